// SPDX-License-Identifier: BSL-1.0
// A plugin for QEMU 7 that counts the instructions of every call of one function, from its first one to its return,
// with all that it calls:
//
//   qemu-aarch64 -plugin count.so,function=forward -d plugin PROGRAM     # instructions 172801 172801
//
// A call is over when the caller goes on behind it, so it must be a call, not the jump of a caller that has nothing to
// do afterwards. Debian's QEMU can load plugins but has no header for them, so the
// functions used are declared here (QEMU, docs/devel/tcg-plugins).
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb*);
extern struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn*);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);
extern const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn*);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                                  void (*)(qemu_plugin_id_t, struct qemu_plugin_tb*));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb*, void (*)(unsigned, void*), int, void*);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
extern void qemu_plugin_outs(const char*);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

// Instructions that QEMU translated together: they run from the first to the last.
struct block {
  uint64_t first, end, instructions;
  int of_function;
};

static char function[64];
static int inside;
static uint64_t counted, last_end, back_at;

static void executed(unsigned cpu, void* data) {
  (void)cpu;
  const struct block* block = data;
  if (inside && block->first == back_at) {
    char line[32];
    snprintf(line, sizeof line, " %llu", (unsigned long long)counted);
    qemu_plugin_outs(line);
    inside = 0;
  }
  if (!inside && block->of_function) {
    inside = 1;
    counted = 0;
    back_at = last_end;
  }
  counted += block->instructions;
  last_end = block->end;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* translation) {
  (void)id;
  struct block* block = malloc(sizeof *block);  // for as long as QEMU runs: it does not say when it drops one
  if (block == 0) abort();
  block->instructions = qemu_plugin_tb_n_insns(translation);
  const struct qemu_plugin_insn* last = qemu_plugin_tb_get_insn(translation, block->instructions - 1);
  block->first = qemu_plugin_tb_vaddr(translation);
  block->end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
  const char* symbol = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(translation, 0));
  block->of_function = symbol != 0 && strcmp(symbol, function) == 0;
  const int no_registers = 0;
  qemu_plugin_register_vcpu_tb_exec_cb(translation, executed, no_registers, block);
}

static void ended(qemu_plugin_id_t id, void* data) {
  (void)id, (void)data;
  qemu_plugin_outs("\n");
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void* info,
                                                               int count, char** values) {
  (void)info;
  for (int i = 0; i < count; ++i) sscanf(values[i], "function=%63s", function);
  if (function[0] == 0) return 1;
  qemu_plugin_outs("instructions");
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, 0);
  return 0;
}
