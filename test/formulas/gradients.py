# SPDX-License-Identifier: BSL-1.0
"""Random formulas (generate.py) of few elements, in double, whose gradients by all that is given to them are compared with differences.

What is read in another order, in part or repeated is read so in the formula: gradients go back the same way.
"""
from generate import Formula


class Small(dict):
    """Sizes of axes: of what is large, up to 4."""

    def __setitem__(self, axis, size):
        super().__setitem__(axis, size if size <= 5 else 1 + size % 4)


class Differentiated(Formula):
    reads_inputs = False  # differences would meet steps

    def __init__(self, seed):
        super().__init__(seed)
        self.sizes = Small()

    def weights(self, into, out):
        self.tensors.append((into, out, self.random.random() < 0.5, False))
        return f"x{len(self.tensors) - 1}"

    def make(self):
        kinds = (self.attention, self.attention_by_rows, self.chain, self.contraction, self.contraction_with_a_tail, self.reduction,
                 self.sums_of_several_axes, self.projection, self.joined, self.norm)
        return kinds[self.seed % len(kinds)]()

    def write(self):
        result = self.make()
        lines, names, reads = ["{"], [], []
        for i, one in enumerate(self.tensors):
            if len(one) == 4:
                into, out, biased, _ = one
                names.append(f"x{i}")
                layer = f"{into}<{self.sizes[into]}>, {out}<{self.sizes[out]}>, bias<{'true' if biased else 'false'}>"
                lines.append(f"static linear<double, {layer}>::weights x{i}; fill_numbers(x{i});")
                continue
            memory, read, padded = one
            axes = [f"{axis}<{self.sizes[axis]}>" for axis in memory]
            pipes = f"m{i}"
            if padded and memory:
                inner = memory[-1]
                axes[-1] = f"{inner}<{self.sizes[inner] + 3}>"
                pipes += f" | slice<{inner}, from<2>, extent<{self.sizes[inner]}>>"
            if read != memory:
                pipes += " | permute<" + ", ".join(read) + ">"
            reads.append(f"const auto x{i} = {pipes};")
            names.append(f"m{i}")
            lines.append(f"static tensor<{', '.join(['double'] + axes)}> m{i}; fill_numbers(m{i});")
        taken = ", ".join("const auto& " + n for n in names)
        lines += [f"constexpr formula f = []({taken}) {{"] + ["  " + line for line in reads + self.body]
        lines += [f"  return number_of({result});", "};", f"check_gradient(f, {', '.join(names)});", "}"]
        return "\n".join(lines)


HEADER = """// Made by test/formulas/gradients.py.
#include "gradients.hpp"
using namespace umbel;
using namespace umbel::axes;
template <std::size_t N> struct groups : axis<groups, N> {};
template <std::size_t N> struct offset : axis<offset, N> {};
"""


def source(seeds):
    parts = [HEADER]
    parts += [f"static void formula_{seed}() {Differentiated(seed).write()}" for seed in seeds]
    parts += ["int main() {"] + [f"  run_gradient({seed}, formula_{seed});" for seed in seeds] + ["}"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    import sys
    print(source(range(int(sys.argv[1]), int(sys.argv[2]))))
