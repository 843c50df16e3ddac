// SPDX-License-Identifier: BSL-1.0
// A plugin for QEMU 7 that says how many instructions a program took. Debian's QEMU can load plugins but has
// no header for them, so the functions used are declared here (QEMU, docs/devel/tcg-plugins).
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                                  void (*)(qemu_plugin_id_t, struct qemu_plugin_tb*));
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, int, void*, uint64_t);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
extern void qemu_plugin_outs(const char*);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t instructions;

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const int add = 0;
  qemu_plugin_register_vcpu_tb_exec_inline(block, add, &instructions, qemu_plugin_tb_n_insns(block));
}

static void ended(qemu_plugin_id_t id, void* data) {
  (void)id, (void)data;
  char line[64];
  snprintf(line, sizeof line, "instructions %llu\n", (unsigned long long)instructions);
  qemu_plugin_outs(line);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void* info,
                                                               int count, char** values) {
  (void)info, (void)count, (void)values;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, 0);
  return 0;
}
