" SPDX-License-Identifier: BSL-1.0
" :source this file, then :make. A wrong shape is in the quickfix list at your own line, with Umbel's message; what else the compiler
" finds is there as usual.

" g++: the message in the name of a type, then a line for each call; your call is the last.
let s:gcc = '%E%.%#: In instantiation of %.%#"umbel: %m"%.%#,'
      \ . '%Z%f:%l:%c:   required from here,'
      \ . '%C%.%#:   required %.%#,'

" clang: the message as types, then a note for each call; your call is the last one, outside of Umbel.
let s:clang = '%E%.%#: error: static%.%#failed due to requirement ''%m''%.%#umbel: shapes do not fit%.%#,'
      \ . '%C%.%#umbel/%[a-z_]%\+/%[a-z0-9_]%\+.hpp:%.%#: note: in instantiation of %.%#,'
      \ . '%Z%f:%l:%c: note: in instantiation of %.%# requested here,'
      \ . '%C %.%#,'
      \ . '%C%*\d | %.%#,'

" The same mistake once more, at a line of Umbel.
let s:twice = '%-G%.%#umbel/%.%#.hpp:%.%#: error: invalid application of %.%#shapes_do_not_fit%.%#,'
      \ . '%-G%.%#umbel/%.%#.hpp:%.%#: error: static assertion failed: umbel: %.%#,'

let &errorformat = s:gcc . s:clang . s:twice . &errorformat
