//! Where a target is asked: for reviews, whether it is ready, and for its metrics.

use contract::document::target::TargetSpec;

use super::location::ProgramLocation;
use super::placeholders::Placeholders;
use crate::target::TargetError;

/// Where reviews are sent if nothing is said.
const URL: &str = "https://127.0.0.1:<port>";

/// The addresses of one start.
pub(super) struct Addresses {
    pub(super) url: String,
    pub(super) ready: Option<String>,
    pub(super) metrics: Option<String>,
}

impl Addresses {
    /// As the target sees them.
    pub(super) fn of(spec: &TargetSpec, placeholders: &Placeholders) -> Result<Self, TargetError> {
        let fill = |address: &String| placeholders.fill(address);
        Ok(Self {
            url: placeholders.fill(spec.url.as_deref().unwrap_or(URL))?,
            ready: spec.ready.as_ref().map(fill).transpose()?,
            metrics: spec.metrics.as_ref().map(fill).transpose()?,
        })
    }

    /// As they are reached from here.
    pub(super) fn address_from_here(&self, location: &ProgramLocation) -> Self {
        let reached = |address: &String| location.address_from_here(address);
        Self {
            url: reached(&self.url),
            ready: self.ready.as_ref().map(reached),
            metrics: self.metrics.as_ref().map(reached),
        }
    }

    /// All that are said.
    pub(super) fn all(&self) -> Vec<&str> {
        let further = [&self.ready, &self.metrics].into_iter().flatten();
        [&self.url].into_iter().chain(further).map(String::as_str).collect()
    }
}
