//! Durations of a Garden as flags of programs have them.

use api::garden::Duration;
use formats::duration::GoDuration;

/// A duration as Go prints it; one that cannot be read, which the API server refuses, stays as it is.
#[must_use]
pub fn printed(duration: &Duration) -> String {
    GoDuration::parse(&duration.0).map_or_else(|_| duration.0.clone(), |duration| duration.to_string())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1h", "1h0m0s")]
    #[case("90s", "1m30s")]
    #[case("0", "0s")]
    #[case("soon", "soon")]
    fn durations_are_printed_as_go_does(#[case] written: &str, #[case] want: &str) {
        assert_eq!(printed(&Duration(written.to_owned())), want);
    }
}
