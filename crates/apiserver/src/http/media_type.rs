//! Content types of bodies.

/// The media type of a header, in lower case and without parameters.
pub(crate) fn media_type(header: &str) -> String {
    header.split(';').next().unwrap_or_default().trim().to_lowercase()
}
