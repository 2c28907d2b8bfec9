//! Lines of a text, found by a place in it.

/// Where lines end; a text is read once, however many places are asked for.
pub(super) struct LineEnds(Vec<usize>);

impl LineEnds {
    pub fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// How many lines end before a place.
    pub fn before(&self, at: usize) -> usize {
        self.0.partition_point(|end| *end < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_before_a_place_are_counted() {
        let lines = LineEnds::of("a\nb\n\nc");
        let before = [0, 1, 2, 4, 5, 6].map(|at| lines.before(at));
        assert_eq!(before, [0, 0, 1, 2, 3, 3]);
    }
}
