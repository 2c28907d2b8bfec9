//! Numbers in digits, without allocating.

/// Fills `out` with a number's last digits.
pub(crate) fn write_digits(mut number: u64, out: &mut [u8]) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Writes a number given in units of its last place, of which `places` are behind the point, at the end
/// of `out`; gives where it begins.
pub(crate) fn write_decimal(value: i64, places: usize, out: &mut [u8]) -> usize {
    let mut rest = value.unsigned_abs();
    let mut at = out.len();
    let mut written = 0;
    while written <= places || rest > 0 {
        if written == places && places > 0 {
            at -= 1;
            out[at] = b'.';
        }
        at -= 1;
        out[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        written += 1;
    }
    if value < 0 {
        at -= 1;
        out[at] = b'-';
    }
    at
}
