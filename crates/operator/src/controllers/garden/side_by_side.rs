//! Does several things at once.

use futures::future::{BoxFuture, join_all};

use super::error::{ErrorList, StepError};

/// Does several things at once, all of them to their ends.
///
/// # Errors
/// If there is one thing its error, else a list.
pub(super) async fn side_by_side(
    mut all: Vec<BoxFuture<'_, Result<(), StepError>>>,
) -> Result<(), StepError> {
    if all.len() == 1
        && let Some(only) = all.pop()
    {
        return only.await;
    }
    let failed = join_all(all).await.into_iter().filter_map(|ended| ended.err().map(|error| error.text()));
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() { Ok(()) } else { Err(StepError::Several(ErrorList(failed))) }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures::FutureExt as _;

    use super::*;

    fn fails(text: &str) -> BoxFuture<'static, Result<(), StepError>> {
        ready(Err(StepError::State(text.to_owned()))).boxed()
    }

    #[tokio::test]
    async fn several_errors_are_a_list_and_one_thing_has_its_own() {
        assert!(side_by_side(Vec::new()).await.is_ok());
        assert_eq!(side_by_side(vec![fails("a")]).await.unwrap_err().text(), "a");
        let two = vec![fails("a"), ready(Ok(())).boxed()];
        assert_eq!(side_by_side(two).await.unwrap_err().text(), "1 error occurred:\n\t* a\n\n");
    }
}
