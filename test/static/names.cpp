// SPDX-License-Identifier: BSL-1.0
// 86 names that a program may well give to an axis of its own, declared globally after `using
// namespace` and used without qualification. Five others are taken, at the end. docs/names.md has
// every public name.
#include <umbel/inspect/describe.hpp>
#include <umbel/inspect/heat_map.hpp>
#include <umbel/umbel.hpp>

// Operators need no `using`.
using combined = decltype(umbel::causal & umbel::sliding_window<2>);
static_assert(umbel::mask_like<combined>);

using namespace umbel;
using namespace umbel::axes;
using namespace umbel::literals;

// In a tensor, as what is split and as both parts, in an access by name.
#define AXIS(name)                                                                        \
  template <std::size_t N>                                                                \
  struct name : umbel::axis<name, N> {};                                                  \
  static_assert(tensor<float, batch<2>, name<6>>::extent<name> == 6);                     \
  static_assert((tensor<int, name<6>>{} | split<name, heads<3>, head_dim>).rank == 2);    \
  static_assert((tensor<int, hidden<6>>{} | split<hidden, name<3>, head_dim>).rank == 2); \
  static_assert((tensor<int, hidden<6>>{} | split<hidden, heads<3>, name>).rank == 2);    \
  static_assert(tensor<int, batch<1>, name<2>>{3, 4}(at<name>(1), at<batch>(0)) == 4)

AXIS(frames);
AXIS(rows);
AXIS(column);
AXIS(pixel);
AXIS(patch);
AXIS(channel);
AXIS(time);
AXIS(step);
AXIS(layer);
AXIS(word);
AXIS(text);
AXIS(number);
AXIS(element);
AXIS(report);
AXIS(option);
AXIS(options);
AXIS(rule);
AXIS(plan);
AXIS(kernel);
AXIS(operation);
AXIS(algebra);
AXIS(half);
AXIS(scalar);
AXIS(form);
AXIS(uniform);
AXIS(zeros);
AXIS(group);
AXIS(block);
AXIS(stage);
AXIS(sample);
AXIS(feature);
AXIS(band);
AXIS(bin);
AXIS(note);
AXIS(chord);
AXIS(sensor);
AXIS(joint);
AXIS(state);
AXIS(action);
AXIS(agent);
AXIS(vertex);
AXIS(edge);
AXIS(node);
AXIS(face);
AXIS(point);
AXIS(depth);
AXIS(level);
AXIS(window);
AXIS(offset);
AXIS(index);
AXIS(count);
AXIS(length);
AXIS(width);
AXIS(height);
AXIS(letter);
AXIS(verdict);
AXIS(accepted);
AXIS(rules);
AXIS(say);
AXIS(sequence);
AXIS(frame);
AXIS(row);
AXIS(item);
AXIS(entry);
AXIS(record);
AXIS(score);
AXIS(value);
AXIS(weight);
AXIS(cell);
AXIS(track);
AXIS(beat);
AXIS(voice);
AXIS(speaker);
AXIS(phoneme);
AXIS(document);
AXIS(paragraph);
AXIS(session);
AXIS(user);
AXIS(region);
AXIS(slot);
AXIS(lane);
AXIS(sentence);

// Taken: two words of formulas, two options, and the member of every axis (a class named `size`
// hides it).
using position_is_taken = decltype(position<frames>);
using product_is_taken = decltype(product<frames>);
using observed_is_taken = decltype(observed::weights);
using gated_is_taken = gated<true>;
static_assert(frames<3>::size == 3);
