// SPDX-License-Identifier: BSL-1.0
// Which heads does the trained classifier need? Each is left out once: the more the loss rises, the
// more important it is (Michel, Levy, Neubig 2019, "Are Sixteen Heads Really Better than One?").
// Then the least important ones are pruned, layer by layer, without training again;
// learn_fashion/prune.hpp also uses their gradients, and fine-tunes. (The pictures that choose the
// heads here also judge the choice; in earnest, use different ones.)
//
//   08_prune_heads             on the committed pictures: too few to judge, enough to run
//   08_prune_heads results/data    on all 10,000; tools/demo unpacks them there
//
// A layer with fewer heads is a smaller type, known at compile time; which heads it keeps is known
// only at run time. fashion/fewer_heads.hpp combines both.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <numeric>
#include <vector>

#include "fashion/fewer_heads.hpp"
#include "fashion/model.hpp"
#include "fashion/pictures.hpp"

namespace {

using namespace fashion;

// First, Second: the number of heads in the two layers.
template <std::size_t First, std::size_t Second>
struct network {
  prepacked<fewer<First>> first;
  prepacked<fewer<Second>> second;
  typename fewer<First>::template workspace<patch<49>> first_work{};
  typename fewer<Second>::template workspace<patch<49>> second_work{};

  static constexpr std::size_t bytes = model::weights_bytes - sizeof(trained::layers) +
                                       sizeof(prepacked<fewer<First>>) +
                                       sizeof(prepacked<fewer<Second>>);

  network(unsigned in_first, unsigned in_second)
      : first(encoder_with<First>(0, in_first)), second(encoder_with<Second>(1, in_second)) {}

  void logits(const std::uint8_t* pixels, model::workspace& work, float* out) noexcept {
    model::embed(pixels, work);
    first.into(work.y, work.x, all_keys, first_work);
    second.into(work.x, work.y, all_keys, second_work);
    model::answer(work, out);
  }
};

// ---- measuring ----------------------------------------------------------------------------------
model::workspace work;

struct score {
  double accuracy = 0;  // percent
  double loss = 0;      // mean cross-entropy
};

template <class Network>
score score_of(Network& net, const picture_set& set) {
  score sum;
  for (std::size_t i = 0; i < set.size(); ++i) {
    float logits[class_count];
    net.logits(set.picture(i), work, logits);
    const float* most = std::max_element(logits, logits + class_count);
    double exponentials = 0;
    for (const float logit : logits) exponentials += std::exp(double{logit} - double{*most});
    sum.loss += std::log(exponentials) + double{*most} - double{logits[set.labels[i]]};
    sum.accuracy += most - logits == set.labels[i] ? 100 : 0;
  }
  const double count = static_cast<double>(set.size());
  return {sum.accuracy / count, sum.loss / count};
}

// The median over forward passes, in processor time of this thread.
template <class Network>
double microseconds_of(Network& net, const picture_set& set) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
  };
  std::vector<double> times(std::clamp<std::size_t>(set.size(), 301, 3001));
  float logits[class_count];
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double begin = now();
    net.logits(set.picture(i % set.size()), work, logits);
    times[i] = now() - begin;
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

template <std::size_t Count>
void print_row(const picture_set& set, const unsigned (&keeps)[2]) {
  static network<Count, Count> net(keeps[0], keeps[1]);
  const score s = score_of(net, set);
  std::printf("  %zu of %zu   %7.2f %%   %6.4f   %8.1f   %7zu\n", Count, all_heads, s.accuracy,
              s.loss, microseconds_of(net, set), net.bytes);
}

// With nothing pruned, it is the model itself, bit for bit.
bool is_the_model(network<all_heads, all_heads>& net, const picture_set& set) {
  bool same = true;
  for (std::size_t i = 0; i < std::min<std::size_t>(set.size(), 20); ++i) {
    float ours[class_count], theirs[class_count];
    net.logits(set.picture(i), work, ours);
    model::logits(set.picture(i), work, theirs);
    same = same && std::equal(ours, ours + class_count, theirs);
  }
  return same;
}

int prune(const picture_set& set) {
  static network<all_heads, all_heads> unpruned(every_head, every_head);
  if (!is_the_model(unpruned, set)) {
    std::fprintf(stderr, "08_prune_heads: 4 of 4 heads do not answer as the model does\n");
    return 1;
  }
  const score before = score_of(unpruned, set);
  std::printf("%zu pictures. Without one head, the loss rises and the accuracy changes by:\n\n",
              set.size());
  unsigned keeps[all_heads + 1][model::layers] = {};
  for (std::size_t layer = 0; layer < model::layers; ++layer) {
    double importance[all_heads];
    for (std::size_t head = 0; head < all_heads; ++head) {
      const unsigned others = every_head & ~(1u << head);
      score without;
      if (layer == 0) {
        static network<all_heads - 1, all_heads> net(others, every_head);
        net.first = encoder_with<all_heads - 1>(0, others);
        without = score_of(net, set);
      } else {
        static network<all_heads, all_heads - 1> net(every_head, others);
        net.second = encoder_with<all_heads - 1>(1, others);
        without = score_of(net, set);
      }
      importance[head] = without.loss - before.loss;
      std::printf("  layer %zu, head %zu   %+8.4f   %+6.2f points\n", layer, head, importance[head],
                  without.accuracy - before.accuracy);
    }
    std::size_t order[all_heads];  // the most important first
    std::iota(order, order + all_heads, std::size_t{0});
    std::sort(order, order + all_heads,
              [&](std::size_t a, std::size_t b) { return importance[a] > importance[b]; });
    for (std::size_t count = 1; count <= all_heads; ++count)
      keeps[count][layer] = keeps[count - 1][layer] | 1u << order[count - 1];
  }
  std::printf("\nThe most important heads of each layer, the others pruned:\n\n");
  std::printf("   heads    accuracy     loss   us, median   bytes\n");
  print_row<4>(set, keeps[4]);
  print_row<3>(set, keeps[3]);
  print_row<2>(set, keeps[2]);
  print_row<1>(set, keeps[1]);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return prune(count > 1 ? load_pictures(words[1]) : load_samples());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "08_prune_heads: %s\n", problem.what());
    return 2;
  }
}
