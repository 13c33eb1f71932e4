//! One module per webhook; each consists of a provider's hooks, driven by its configuration.

pub mod controlplane;
pub mod controlplanebackup;
pub mod controlplaneexposure;

/// The names of all webhooks, ordered.
pub const NAMES: [&str; 3] = [controlplane::NAME, controlplanebackup::NAME, controlplaneexposure::NAME];

/// The name of every webhook, and its path.
#[must_use]
pub fn paths() -> Vec<(&'static str, String)> {
    NAMES.into_iter().map(|name| (name, format!("/{name}"))).collect()
}
