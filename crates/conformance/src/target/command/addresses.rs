//! The addresses of a target: for reviews, readiness and metrics.

use contract::document::target::TargetSpec;
use contract::process::Server;

use super::location::ProgramLocation;
use super::placeholders::Placeholders;
use crate::target::TargetError;

/// The default address for reviews.
pub(super) const URL: &str = "https://127.0.0.1:<port>";

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

    /// As this machine reaches them.
    pub(super) fn as_reached(&self, location: &ProgramLocation) -> Self {
        let reached = |address: &String| location.address_from_here(address);
        Self {
            url: reached(&self.url),
            ready: self.ready.as_ref().map(reached),
            metrics: self.metrics.as_ref().map(reached),
        }
    }

    /// Where one of its servers listens, if the target file contains it.
    pub(super) fn of_server(&self, server: Server) -> Option<&str> {
        match server {
            Server::Webhooks => Some(&self.url),
            Server::Probes => self.ready.as_deref(),
            Server::Metrics => self.metrics.as_deref(),
        }
    }

    /// All addresses that are set.
    pub(super) fn all(&self) -> Vec<&str> {
        let others = [&self.ready, &self.metrics].into_iter().flatten();
        [&self.url].into_iter().chain(others).map(String::as_str).collect()
    }
}
