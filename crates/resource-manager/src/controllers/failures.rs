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
    /// As the original counts them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(|error| controller::words(error)).collect();
        match texts.as_slice() {
            [text] => write!(f, "1 error occurred: {text}"),
            _ => write!(f, "{} errors occurred: [{}]", texts.len(), texts.join(", ")),
        }
    }
}

impl std::error::Error for Failures {}
