//! Annotations of an object that something else is to have.

use std::collections::BTreeMap;

use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid};
use super::names;

/// Most bytes of all keys and values.
const LARGEST: usize = 256 * 1024;

/// Keys are those of labels, of any case; all together have a largest size.
pub(super) fn validate(annotations: &BTreeMap<String, String>, at: &Path) -> FieldErrors {
    let mut errors: FieldErrors = annotations
        .keys()
        .flat_map(|key| each_invalid(at, key, &names::label_key(&key.to_lowercase())))
        .collect();
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > LARGEST {
        errors.push(Error::too_long(at, LARGEST));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_have_a_largest_size() {
        let of = |length: usize| BTreeMap::from([("a".to_owned(), "b".repeat(length))]);
        assert!(validate(&of(LARGEST - 1), &Path::new("annotations")).is_empty());
        let errors = validate(&of(LARGEST), &Path::new("annotations"));
        assert_eq!(
            errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["annotations: Too long: must have at most 262144 bytes"]
        );
    }
}
