// SPDX-License-Identifier: BSL-1.0
// Which heads does the trained classifier need? Each is left out once, and the more the loss rises
// the more important it was (Michel, Levy, Neubig 2019, "Are Sixteen Heads Really Better than
// One?"). Then the least important ones are pruned, layer by layer, without training again;
// learn_fashion/prune.hpp also takes their gradients, and fine-tunes. (The pictures that choose the
// heads here also judge the choice; in earnest, choose with others.)
//
//   08_prune_heads             on the committed pictures: too few to judge, enough to run
//   08_prune_heads build/demo/data    on all 10,000; tools/demo unpacks them there
//
// A layer with fewer heads is a smaller type, known to the compiler; which heads they are, only
// this run knows. Both fit: a type depends on how many heads there are, not on which, so that there
// are 4 encoders; and 4 heads have 15 subsets, so that all 15 ways to take weights are compiled,
// and a loop over them picks the one whose subset it is.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <numeric>
#include <utility>
#include <vector>

#include "fashion/model.hpp"
#include "fashion/pictures.hpp"

namespace {

using namespace fashion;
using whole = encoder::attention;  // the model's: 4 heads of width 8
constexpr std::size_t all_heads = model::heads;
constexpr unsigned every_head = (1u << all_heads) - 1;

// ---- a subset of the heads, as bits: from run time to types and back ----------------------------
constexpr std::size_t nth_head(unsigned subset, std::size_t n) {
  for (; n > 0; --n) subset &= subset - 1;
  return static_cast<std::size_t>(std::countr_zero(subset));
}
template <unsigned Subset, std::size_t... N>
keep_heads<nth_head(Subset, N)...> keep_nth(std::index_sequence<N...>);
template <unsigned Subset>
using keep = decltype(keep_nth<Subset>(std::make_index_sequence<std::popcount(Subset)>{}));

// The first Count heads or any other Count: one type.
template <std::size_t Count>
using smaller = pruned<whole, keep<(1u << Count) - 1>>;

template <std::size_t Count>
typename smaller<Count>::weights weights_of(const prepacked<whole>::weights_to_pack& w,
                                            unsigned subset) {
  typename smaller<Count>::weights taken{};
  const auto take_if = [&]<unsigned Subset>(std::integral_constant<unsigned, Subset>) {
    if constexpr (std::popcount(Subset) == Count)
      if (subset == Subset) taken = pruned_weights<whole, keep<Subset>>(w);
  };
  [&]<unsigned... Less>(std::integer_sequence<unsigned, Less...>) {
    (take_if(std::integral_constant<unsigned, Less + 1>{}), ...);
  }(std::make_integer_sequence<unsigned, every_head>{});
  return taken;
}

// ---- the classifier with fewer heads ------------------------------------------------------------
//
// The encoder keeps its width; the heads keep theirs, which must be stated where there are fewer.
template <std::size_t Count>
using fewer =
    encoder_layer<float, hidden<32>, heads<Count>, intermediate<64>, bias<true>, norm_first<true>,
                  activation<gelu_exact>, head_dim<whole::sizes.head_dim>>;

template <std::size_t Count>
prepacked<fewer<Count>> encoder_with(std::size_t layer, unsigned subset) {
  const auto& p = trained::layers_parameters[layer];
  const auto w = weights_of<Count>(p.attention, subset);
  return prepacked<fewer<Count>>{{p.norm1, {w.q, w.k, w.v, w.o}, p.norm2, p.feed_forward}};
}

// First, Second: how many heads its two layers have.
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

// The median over forward passes, of the time that this thread had the processor.
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

// Nothing pruned is the model itself, bit for bit.
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
