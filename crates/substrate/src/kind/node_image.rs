//! The image of a cluster's nodes.

use super::KindError;
use super::programs::Programs;

/// How `make kind-node` names images.
const ASSEMBLED: &str = "gardener-conformance/kind-node";

/// The chosen one, which is pulled if it is not there, else the one that was assembled last.
///
/// # Errors
/// When there is none.
pub async fn chosen(programs: &Programs, chosen: Option<&str>) -> Result<String, KindError> {
    let Some(image) = chosen else {
        let list = ["images", "--format", "{{.Repository}}:{{.Tag}}", ASSEMBLED];
        let listed = programs.docker.ask(&list, "list images").await?;
        // The youngest comes first.
        return listed.lines().next().map(str::to_owned).ok_or(KindError::NoImage);
    };
    let provided = programs.docker.provide(image).await;
    provided.map_err(|error| KindError::Image { image: image.to_owned(), said: error.to_string() })?;
    Ok(image.to_owned())
}
