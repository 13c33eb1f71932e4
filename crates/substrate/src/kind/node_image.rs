//! The image of a cluster's nodes.

use super::KindError;
use super::programs::Programs;

/// The image name that `make kind-node` uses.
const ASSEMBLED: &str = "gardener-conformance/kind-node";

/// The chosen image, pulled if necessary, else the one that was assembled last.
///
/// # Errors
/// When there is no image.
pub async fn chosen(programs: &Programs, chosen: Option<&str>) -> Result<String, KindError> {
    let Some(image) = chosen else {
        let list = ["images", "--format", "{{.Repository}}:{{.Tag}}", ASSEMBLED];
        let listed = programs.docker.query(&list, "list images").await?;
        // Docker lists the newest first.
        return listed.lines().next().map(str::to_owned).ok_or(KindError::NoImage);
    };
    let outcome = programs.docker.provide(image).await;
    outcome.map_err(|error| KindError::Image { image: image.to_owned(), said: error.to_string() })?;
    Ok(image.to_owned())
}
