//! Errors of several concurrent requests, in one text.

use std::fmt;

/// Errors of failed requests, others of which may have succeeded; never empty.
#[derive(Debug)]
pub struct Failures(Vec<kube::Error>);

impl Failures {
    /// Collects the failures of these results.
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
        f.write_str(&format_errors(&texts))
    }
}

impl std::error::Error for Failures {}

/// Errors in one line, in the original's format.
#[must_use]
pub(super) fn format_errors(errors: &[String]) -> String {
    match errors {
        [error] => format!("1 error occurred: {error}"),
        _ => format!("{} errors occurred: [{}]", errors.len(), errors.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_error_has_another_format_than_several() {
        let errors = ["a".to_owned(), "b".to_owned()];
        assert_eq!(format_errors(&errors[..1]), "1 error occurred: a");
        assert_eq!(format_errors(&errors), "2 errors occurred: [a, b]");
    }
}
