//! Paths into objects: `spec.containers[].volumeMounts`, `metadata.labels[app.kubernetes.io/name]`.

use thiserror::Error;

/// One segment of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// `.spec`, or `[app.kubernetes.io/name]`: a field of an object or a key of a map.
    Key(String),
    /// `[3]`: one element of a list; of a map, the key of that spelling.
    Index(usize),
    /// `[]`: every element of a list or every value of a map.
    Each,
}

/// Reason a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PathError {
    /// A field's name is missing: `spec..x`, `.spec`, `spec.`.
    #[error("empty name at offset {0}")]
    EmptyName(usize),
    /// A bracket is not closed.
    #[error("bracket at offset {0} is not closed")]
    OpenBracket(usize),
    /// Something other than `.` or `[` follows a bracket.
    #[error("expected . or [ at offset {0}")]
    AfterBracket(usize),
}

/// Parses a path; the empty text has no segments. Names may contain any character but `.` and `[`, in brackets any but `]`.
///
/// # Errors
/// If the text is malformed, with the offset in bytes.
pub fn segments(path: &str) -> Result<Vec<Segment>, PathError> {
    let mut segments = Vec::new();
    let mut at = 0;
    while at < path.len() {
        let rest = &path[at..];
        if let Some(bracketed) = rest.strip_prefix('[') {
            let end = bracketed.find(']').ok_or(PathError::OpenBracket(at))?;
            segments.push(parse_bracket(&bracketed[..end]));
            at += end + 2;
            at += match path[at..].chars().next() {
                None | Some('[') => 0,
                Some('.') if at + 1 < path.len() => 1,
                Some('.') => return Err(PathError::EmptyName(at + 1)),
                Some(_) => return Err(PathError::AfterBracket(at)),
            };
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let dotted = rest[end..].starts_with('.');
            if end == 0 || (dotted && at + end + 1 == path.len()) {
                return Err(PathError::EmptyName(if end == 0 { at } else { at + end + 1 }));
            }
            segments.push(Segment::Key(rest[..end].to_owned()));
            at += end + usize::from(dotted);
        }
    }
    Ok(segments)
}

fn parse_bracket(inside: &str) -> Segment {
    match inside.parse() {
        _ if inside.is_empty() => Segment::Each,
        Ok(index) => Segment::Index(index),
        Err(_) => Segment::Key(inside.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Segment {
        Segment::Key(name.to_owned())
    }

    #[test]
    fn paths_consist_of_names_and_brackets() {
        assert_eq!(segments(""), Ok(vec![]));
        assert_eq!(
            segments("spec.containers[].ports[3].name"),
            Ok(vec![
                key("spec"),
                key("containers"),
                Segment::Each,
                key("ports"),
                Segment::Index(3),
                key("name")
            ])
        );
        assert_eq!(
            segments("metadata.labels[app.kubernetes.io/name]"),
            Ok(vec![key("metadata"), key("labels"), key("app.kubernetes.io/name")])
        );
        assert_eq!(segments("[][0]"), Ok(vec![Segment::Each, Segment::Index(0)]));
    }

    #[test]
    fn malformed_paths_have_an_offset() {
        assert_eq!(segments(".spec"), Err(PathError::EmptyName(0)));
        assert_eq!(segments("spec."), Err(PathError::EmptyName(5)));
        assert_eq!(segments("spec..x"), Err(PathError::EmptyName(5)));
        assert_eq!(segments("spec.a[]."), Err(PathError::EmptyName(9)));
        assert_eq!(segments("spec[a"), Err(PathError::OpenBracket(4)));
        assert_eq!(segments("spec[]a"), Err(PathError::AfterBracket(6)));
    }
}
