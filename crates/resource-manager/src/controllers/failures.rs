//! What went wrong in several requests that were sent at once, in one text.

use std::fmt;

/// Errors of requests that failed, while others may have gone well; never empty.
#[derive(Debug)]
pub struct Failures(Vec<kube::Error>);

impl Failures {
    /// The failures among these.
    ///
    /// # Errors
    /// When there is one.
    pub fn among(results: impl IntoIterator<Item = Result<(), kube::Error>>) -> Result<(), Self> {
        let errors: Vec<_> = results.into_iter().filter_map(Result::err).collect();
        if errors.is_empty() { Ok(()) } else { Err(Self(errors)) }
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(|error| controller::describe_error(error)).collect();
        f.write_str(&counted(&texts))
    }
}

impl std::error::Error for Failures {}

/// Errors in one line, as the original counts them.
#[must_use]
pub(super) fn counted(errors: &[String]) -> String {
    match errors {
        [error] => format!("1 error occurred: {error}"),
        _ => format!("{} errors occurred: [{}]", errors.len(), errors.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_error_is_told_otherwise_than_several() {
        let errors = ["a".to_owned(), "b".to_owned()];
        assert_eq!(counted(&errors[..1]), "1 error occurred: a");
        assert_eq!(counted(&errors), "2 errors occurred: [a, b]");
    }
}
