// SPDX-License-Identifier: BSL-1.0
// attention.html: one file that shows, for a few pictures, the model's answers and what every head
// of every layer looks at. No script, no external files, light and dark.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "heat_map.hpp"
#include "look.hpp"
#include "report.hpp"

namespace fashion {

constexpr const char* page_style = R"(
:root { color-scheme: light dark; --back: #f6f6f4; --card: #fff; --ink: #1d1d1f; --soft: #62626a;
  --line: #dcdce0; --bar: #d9480f; --other: #b9b9c2; --good: #2b7a3d; --bad: #c2255c }
@media (prefers-color-scheme: dark) { :root { --back: #141417; --card: #1e1e23; --ink: #ececf0;
  --soft: #a0a0aa; --line: #34343c; --bar: #ff8c42; --other: #5a5a66; --good: #69db7c;
  --bad: #ff7aa8 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 84rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem }
h2 { font-size: 1.25rem; margin: 0 0 .75rem }
h3 { font-size: .95rem; margin: 0; color: var(--soft); font-weight: 600 }
p { max-width: 46rem; margin: .6rem 0 } .soft, small { color: var(--soft) }
dl { display: grid; grid-template-columns: repeat(6, auto); gap: .75rem; margin: 1.5rem 0 }
dd small { font-size: .8rem; font-weight: 400; white-space: nowrap }
dl div, article { background: var(--card); border: 1px solid var(--line); border-radius: .7rem }
dl div { padding: .6rem 1rem } dt { color: var(--soft); font-size: .85rem }
dd { margin: 0; font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums }
article { padding: 1.25rem; margin: 1.5rem 0; display: grid; gap: 1.25rem 2rem;
  grid-template-columns: 17rem minmax(0, 1fr) }
.picture { width: 100%; border-radius: .4rem; display: block; background: #000 }
.good { color: var(--good) } .bad { color: var(--bad) }
table { border-collapse: collapse; width: 100%; font-size: .85rem; margin-top: .9rem }
th, td { padding: .1rem 0; font-weight: 400; text-align: left } th { white-space: nowrap }
td:nth-child(2) { width: 45%; padding: 0 .6rem } td:last-child { text-align: right;
  font-variant-numeric: tabular-nums; white-space: nowrap }
tr.first th, tr.first td { font-weight: 700 } tr.first i { background: var(--bar) }
i { display: block; height: .65rem; min-width: 1px; border-radius: .2rem; background: var(--other) }
.heads { display: grid; gap: .25rem 1rem; margin: .25rem 0 1.25rem;
  grid-template-columns: repeat(4, minmax(0, 1fr)) }
figure { margin: 0 } figcaption { font-size: .85rem; padding-left: 20% }
svg { display: block; width: 100%; height: auto }
svg image, .picture { image-rendering: pixelated } .received { fill: var(--soft) }
.scale { max-width: 20rem; padding: .5rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .7rem }
.received text { font: 11px system-ui, sans-serif; text-anchor: middle }
@media (max-width: 75rem) { dl { grid-template-columns: repeat(3, 1fr) } }
@media (max-width: 40rem) { dl { grid-template-columns: repeat(2, 1fr) } }
@media (max-width: 60rem) { article { grid-template-columns: 1fr } .picture { max-width: 14rem }
  .heads { grid-template-columns: repeat(2, minmax(0, 1fr)) } }
)";

constexpr const char* page_explanation = R"(
<p>The picture is cut into 7 x 7 patches, numbered 0 to 48 row by row from the top left. In every
layer, each head lets every patch (a <em>query</em>) gather from all patches (the <em>keys</em>). A
square shows how: its row 10 says how much patch 10 takes from each patch, and sums to 1. A bright
column is a patch that all others look at; a diagonal is patches that look at themselves or, beside
it, at a neighbour.</p>
<p>Under each square is the picture, the more orange a patch the more it is looked at: the mean of
its column, against the most looked-at patch of that head.</p>
)";

// Six: rows of six, three or two leave none alone.
inline std::string figures(const evaluation& run) {
  const std::string slowest =
      run.preempted == 0 ? text(" <small>p99.9 %.1f</small>", run.latency.p999) : "";
  const auto tile = [](const char* name, const std::string& value) {
    return text("<div><dt>%s</dt><dd>%s</dd></div>\n", name, value.c_str());
  };
  return "<dl>\n" + tile("pictures", grouped(run.images)) +
         tile("right", text("%.2f %%", 100 * run.accuracy())) +
         tile("predictions equal to PyTorch&rsquo;s",
              text("%.2f %%", 100 * run.torch_agreement())) +
         tile("pictures a second, one thread",
              grouped(static_cast<std::size_t>(run.images_per_second))) +
         tile("one picture, p50", text("%.1f &micro;s", run.latency.p50) + slowest) +
         tile("allocations", std::to_string(run.heap.allocations)) + "</dl>\n";
}

inline std::string probabilities(const look& seen) {
  std::string table = "<table>\n";
  for (std::size_t i = 0; i < class_count; ++i) {
    const double percent = 100 * seen.probability[i];
    table += text("<tr%s><th scope=\"row\">%s%s</th><td><i style=\"width:%.2f%%\"></i></td>",
                  i == seen.predicted ? " class=\"first\"" : "", class_name(i),
                  i == seen.label ? " &#10003;" : "", percent);
    table += text("<td>%.1f %%</td></tr>\n", percent);
  }
  return table + "</table>\n";
}

inline std::string article(const look& seen, const heat_map_options& scale) {
  const std::string dimmed = picture_uri(seen, 0.6F);
  std::string html = "<article>\n<div>\n<h2>";
  html += class_name(seen.label);
  html += text(" <small>picture %zu</small></h2>\n", seen.number);
  html += text("<img class=\"picture\" alt=\"The picture: %s\" src=\"", class_name(seen.label));
  html += picture_uri(seen, 1) + "\">\n<p>";
  html += seen.right() ? "<strong class=\"good\">right</strong>: "
                       : "<strong class=\"bad\">wrong</strong>: taken for ";
  html += text("%s, %.1f %% sure</p>\n", class_name(seen.predicted),
               100 * seen.probability[seen.predicted]);
  html += probabilities(seen) + "</div>\n<div>\n";
  for (std::size_t layer = 0; layer < model::layers; ++layer) {
    html += text("<h3>Layer %zu of %zu</h3>\n<div class=\"heads\">\n", layer + 1, model::layers);
    for (std::size_t head = 0; head < model::heads; ++head) {
      html += text("<figure><figcaption>head %zu</figcaption>", head + 1) +
              draw_matrix(seen, layer, head, scale) + draw_received(seen, dimmed, layer, head) +
              "</figure>\n";
    }
    html += "</div>\n";
  }
  return html + "</div>\n</article>\n";
}

inline std::string to_page(const evaluation& run, const std::vector<look>& looks) {
  const heat_map_options scale = common_scale(looks);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Umbel: what the heads look at</title>\n<style>";
  html += page_style;
  html += "</style>\n</head>\n<body>\n<main>\n<h1>What the heads look at</h1>\n";
  html += text(
      "<p class=\"soft\">A trained attention encoder (%zu layers, %zu heads, %zu tokens) tells "
      "clothes apart, from Fashion-MNIST&rsquo;s test pictures, with Umbel on one core.</p>\n",
      model::layers, model::heads, model::tokens);
  html += figures(run);
  html += page_explanation;
  html +=
      "<p class=\"soft\">Colour of a weight, the same in every square (0.02 is 1/49: what each "
      "would "
      "get if all got the same):</p>\n<div class=\"scale\">" +
      draw_scale(scale) + "</div>\n";
  for (const look& seen : looks) html += article(seen, scale);
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace fashion
