//! Which perturbations of a plan a run has.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The number of a perturbation in the plan of its scenario, from 1, or those of a pair: `14`, `14+31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PlanNumbers {
    /// The number of the only one, or of the first of a pair.
    #[serde(rename = "perturbation")]
    pub first: usize,
    /// The number of the second one of a pair.
    #[serde(rename = "with", skip_serializing_if = "Option::is_none")]
    pub second: Option<usize>,
}

impl PlanNumbers {
    /// One perturbation.
    #[must_use]
    pub fn one(number: usize) -> Self {
        Self { first: number, second: None }
    }

    /// The greater number.
    pub(super) fn greatest(self) -> usize {
        self.second.map_or(self.first, |second| second.max(self.first))
    }
}

impl fmt::Display for PlanNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.second {
            None => write!(f, "{}", self.first),
            Some(second) => write!(f, "{}+{second}", self.first),
        }
    }
}

impl FromStr for PlanNumbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
        let numbers = match text.split_once('+') {
            None => number(text).map(Self::one),
            Some((first, second)) => number(first).zip(number(second)).and_then(|(first, second)| {
                (first != second).then_some(Self { first, second: Some(second) })
            }),
        };
        numbers.ok_or_else(|| "is not a whole number from 1 on, nor a pair of them such as 14+31".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_or_two_are_read_and_shown() {
        for text in ["1", "14", "14+31", "31+14"] {
            let numbers: PlanNumbers = text.parse().unwrap();
            assert_eq!((numbers.to_string(), numbers.greatest() >= numbers.first), (text.to_owned(), true));
        }
        for text in ["0", "", "x", "-1", "1+", "1+1", "0+2", "1+2+3", "1.5"] {
            let error = text.parse::<PlanNumbers>().unwrap_err();
            assert!(error.starts_with("is not a whole number from 1 on"), "{text}: {error}");
        }
        let written = serde_json::json!(["14+31".parse::<PlanNumbers>().unwrap(), PlanNumbers::one(7)]);
        assert_eq!(written, serde_json::json!([{"perturbation": 14, "with": 31}, {"perturbation": 7}]));
    }
}
