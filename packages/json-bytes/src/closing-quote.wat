;; Where a JSON string ends, 64 bytes at a time. The bytes of the string stand in memory from 0 on; the first of them is not escaped.
;; Gives the offset of the first quote that no backslash escapes. Where the blocks that begin before $end hold none, gives the offset behind the last
;; of them, and one more when the byte that stands there is escaped.
(module
  (memory (export "memory") 1)
  (func (export "closingQuote") (param $end i32) (result i32)
    (local $at i32)
    (local $quote v128) (local $backslash v128)
    (local $v0 v128) (local $v1 v128) (local $v2 v128) (local $v3 v128)
    ;; A bit for each byte of a block, the first byte's lowest.
    (local $quotes i64) (local $backslashes i64) (local $afterBackslash i64) (local $oddStarts i64) (local $ends i64)
    ;; 1: the first byte of the block is escaped by the block before.
    (local $escaped i64)
    (local.set $quote (i8x16.splat (i32.const 34)))
    (local.set $backslash (i8x16.splat (i32.const 92)))
    (loop $block
      (local.set $v0 (v128.load (local.get $at)))
      (local.set $v1 (v128.load offset=16 (local.get $at)))
      (local.set $v2 (v128.load offset=32 (local.get $at)))
      (local.set $v3 (v128.load offset=48 (local.get $at)))
      (local.set $quotes
        (i64.or
          (i64.or
            (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v0) (local.get $quote))))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v1) (local.get $quote)))) (i64.const 16)))
          (i64.or
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v2) (local.get $quote)))) (i64.const 32))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v3) (local.get $quote)))) (i64.const 48)))))
      (local.set $backslashes
        (i64.or
          (i64.or
            (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v0) (local.get $backslash))))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v1) (local.get $backslash)))) (i64.const 16)))
          (i64.or
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v2) (local.get $backslash)))) (i64.const 32))
            (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v3) (local.get $backslash)))) (i64.const 48)))))
      ;; A byte is escaped when the run of backslashes before it is of odd length (Keiser and Lemire, "Validating UTF-8 and parsing JSON": simdjson).
      ;; Runs are carried to their ends by an addition; those that begin at an odd place come out shifted by one, which the pattern of even places undoes.
      (local.set $backslashes (i64.and (local.get $backslashes) (i64.xor (local.get $escaped) (i64.const -1))))
      (local.set $afterBackslash (i64.or (i64.shl (local.get $backslashes) (i64.const 1)) (local.get $escaped)))
      (local.set $oddStarts
        (i64.and
          (i64.and (local.get $backslashes) (i64.const 0xaaaaaaaaaaaaaaaa))
          (i64.xor (local.get $afterBackslash) (i64.const -1))))
      (local.set $ends (i64.add (local.get $oddStarts) (local.get $backslashes)))
      (local.set $escaped (i64.extend_i32_u (i64.lt_u (local.get $ends) (local.get $backslashes))))
      (local.set $quotes
        (i64.and
          (local.get $quotes)
          (i64.xor
            (i64.const -1)
            (i64.and
              (local.get $afterBackslash)
              (i64.xor (i64.const 0x5555555555555555) (i64.shl (local.get $ends) (i64.const 1)))))))
      (if (i64.ne (local.get $quotes) (i64.const 0))
        (then (return (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $quotes)))))))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (br_if $block (i32.lt_u (local.get $at) (local.get $end))))
    (i32.add (local.get $at) (i32.wrap_i64 (local.get $escaped)))))
