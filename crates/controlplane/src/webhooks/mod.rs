//! One module per webhook; each is a provider's hooks, told by configuration.

pub mod controlplane;
pub mod controlplanebackup;
pub mod controlplaneexposure;

/// Every webhook by name, ordered.
pub const NAMES: [&str; 3] = [controlplane::NAME, controlplanebackup::NAME, controlplaneexposure::NAME];

/// Every webhook by name, and where it is served.
#[must_use]
pub fn paths() -> Vec<(&'static str, String)> {
    NAMES.into_iter().map(|name| (name, format!("/{name}"))).collect()
}
