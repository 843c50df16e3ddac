/* SPDX-License-Identifier: BSL-1.0 */
/* The ROM that Bochs starts in place of a BIOS (run): from reset to 64-bit mode with AVX-512, a program copied to where it
   was linked to, and the few system calls by which a static program of glibc starts, takes memory, prints and ends. The
   answer to any other is ENOSYS. The program has the rights of a kernel, so that no level is ever changed. There
   are no handlers of faults: one is three, which ends Bochs.

   The assembler's command line says program and program_end, which are its addresses; program_bytes, of which the rest is
   zeros, and which lie before this in the ROM; and entry. */
.set memory_end, 64 << 20
.set break, 0x1000  /* where the heap ends */
.set mapped, 0x1008  /* where what mmap gave ends */
.set printer, 0x378  /* the parallel port, a file */
.set end_port, 0x8900  /* Bochs ends when "Shutdown" is written here */

rom:
.code16
real_mode:
  cli
  cld
  lgdtl %cs:(descriptors_at - 0xffff0000)
  lidtl %cs:(descriptors - 0xffff0000)  /* none: the first is zeros */
  mov $(1 << 18 | 1 << 16 | 1 << 10 | 1 << 9 | 1 << 5), %eax  /* XSETBV, WRFSBASE, SSE and its faults, PAE */
  mov %eax, %cr4
  mov $pages, %eax
  mov %eax, %cr3
  mov $0xc0000080, %ecx  /* EFER: 64-bit mode, SYSCALL */
  mov $0x101, %eax
  xor %edx, %edx
  wrmsr
  mov $0x80000023, %eax  /* pages, faults of the FPU, protected mode */
  mov %eax, %cr0
  ljmpl $8, $long_mode

.code64
long_mode:
  fninit
  xor %ecx, %ecx
  mov $0xe7, %eax  /* XCR0: x87, SSE, AVX, AVX-512 */
  xsetbv
  mov $0xc0000081, %ecx  /* STAR: the code segment of SYSCALL */
  xor %eax, %eax
  mov $8, %edx
  wrmsr
  inc %ecx  /* LSTAR: its address */
  mov $system_call, %eax
  xor %edx, %edx
  wrmsr

  mov $(rom - program_bytes), %esi
  mov $program, %edi
  mov $(program_bytes / 8), %ecx
  rep movsq
  mov $memory_end, %ecx
  sub %edi, %ecx
  shr $3, %ecx
  xor %eax, %eax
  rep stosq
  movq $program_end, break
  movq $(memory_end / 2), mapped

  mov $memory_end, %esp
  mov $rom, %eax
  push $0  /* the auxiliary vector ends */
  push $0
  push %rax  /* 16 bytes that are to be random */
  push $25
  push $0  /* no environment */
  push $0
  mov $no_name, %eax
  push %rax
  push $1  /* one argument */
  mov $entry, %eax
  jmp *%rax

/* rax: number and result; rdi, rsi, rdx: arguments; rcx: back. All but rax, rcx and r11 stay as they are. */
.macro at number, label
  cmp $\number, %eax
  je \label
.endm
system_call:
  at 1, write
  at 9, mmap
  at 12, brk
  at 158, arch_prctl
  at 60, exit
  at 231, exit  /* exit_group */
  at 234, abort  /* tgkill */
  at 10, done  /* mprotect */
  at 11, done  /* munmap */
  at 202, done  /* futex: nobody waits */
not_implemented:
  mov $-38, %rax
  jmp *%rcx
done:
  xor %eax, %eax
  jmp *%rcx

mmap:
  mov mapped, %rax
  lea 4095(%rax, %rsi), %r11
  and $-4096, %r11
  mov %r11, mapped
  jmp *%rcx

brk:
  test %rdi, %rdi
  jz 1f
  mov %rdi, break
1:
  mov break, %rax
  jmp *%rcx

arch_prctl:
  cmp $0x1002, %edi  /* ARCH_SET_FS */
  jne not_implemented
  wrfsbase %rsi
  jmp done

write:
  lea -128(%rsp), %rsp  /* the red zone */
  push %rdx
  push %rsi
  mov %rdx, %r11
  jmp 2f
1:
  lodsb
  call print
  dec %r11
2:
  test %r11, %r11
  jnz 1b
  pop %rsi
  pop %rdx
  lea 128(%rsp), %rsp
  mov %rdx, %rax
  jmp *%rcx

print:  /* al */
  mov $printer, %dx
  out %al, %dx
  mov $(printer + 2), %dx
  mov $13, %al  /* strobe */
  out %al, %dx
  mov $12, %al
  out %al, %dx
  ret

abort:
  mov $134, %edi
exit:  /* What is printed ends with a zero and the exit code. */
  xor %eax, %eax
  call print
  mov %edi, %eax
  call print
  mov $end_text, %esi
  mov $8, %ecx
  mov $end_port, %dx
  rep outsb

end_text: .ascii "Shutdown"
no_name: .byte 0
.align 8
descriptors: .quad 0, 0x00209b0000000000  /* of 64-bit code */
descriptors_at: .word 15
  .long descriptors

/* Every address is itself: four pages of 1 GB, "accessed" and "written" already, as nobody can write that here. */
.org 0x1000
pages: .quad directory + 0x23
.org 0x2000
directory: .quad 0xe3, 0x400000e3, 0x800000e3, 0xc00000e3

.org 0x3ff0
.code16
reset:
  jmp real_mode
.org 0x4000
