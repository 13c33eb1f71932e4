//! The file of `--token-auth-file`: CSV as Go's `encoding/csv` reads it, with token, user, uid and groups.

use apiserver::User;

/// Reason a token file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TokenFileError {
    #[error("is not UTF-8")]
    Encoding,
    #[error("a quote in record {0} is not closed")]
    Quote(usize),
    #[error("record {record} has {found} columns; token, user name and user uid are needed")]
    Columns { record: usize, found: usize },
}

/// The tokens of a file with their users. Skips records without a token, as kube-apiserver does.
pub(super) fn parse(content: &[u8]) -> Result<Vec<(String, User)>, TokenFileError> {
    let text = std::str::from_utf8(content).map_err(|_| TokenFileError::Encoding)?;
    let mut tokens = Vec::new();
    for (at, fields) in records(text)?.into_iter().enumerate() {
        let record = at + 1;
        let [token, name, uid, groups @ ..] = fields.as_slice() else {
            return Err(TokenFileError::Columns { record, found: fields.len() });
        };
        if token.is_empty() {
            tracing::warn!(record, "a record of the token file has no token");
            continue;
        }
        if tokens.iter().any(|(known, _)| known == token) {
            tracing::warn!(record, "a token is in the token file twice; the last record counts");
            tokens.retain(|(known, _)| known != token);
        }
        let groups: Vec<&str> = groups.first().map(|list| list.split(',').collect()).unwrap_or_default();
        let groups: Vec<&str> = groups.into_iter().filter(|group| !group.is_empty()).collect();
        tokens.push((token.clone(), User { uid: uid.clone(), ..User::of_groups(name, &groups) }));
    }
    Ok(tokens)
}

/// The records of a CSV text, without empty lines.
fn records(text: &str) -> Result<Vec<Vec<String>>, TokenFileError> {
    let mut records = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (fields, after) = record(rest).ok_or(TokenFileError::Quote(records.len() + 1))?;
        rest = after;
        if fields != [""] {
            records.push(fields);
        }
    }
    Ok(records)
}

/// The fields of the first record, and the text after it; nothing if a quote is not closed.
fn record(text: &str) -> Option<(Vec<String>, &str)> {
    let mut fields = Vec::new();
    let mut rest = text;
    loop {
        let (field, after) = if let Some(quoted) = rest.strip_prefix('"') {
            quoted_field(quoted)?
        } else {
            unquoted_field(rest)
        };
        fields.push(field);
        let Some(next) = after.strip_prefix(',') else {
            let end = after.strip_prefix('\r').unwrap_or(after);
            return Some((fields, end.strip_prefix('\n').unwrap_or(end)));
        };
        rest = next;
    }
}

/// A field up to the comma or the end of its line.
fn unquoted_field(text: &str) -> (String, &str) {
    let end = text.find([',', '\n']).unwrap_or(text.len());
    let (field, rest) = text.split_at(end);
    match (field.strip_suffix('\r'), rest.starts_with('\n')) {
        (Some(field), true) => (field.to_owned(), rest),
        _ => (field.to_owned(), rest),
    }
}

/// A field up to the quote that closes it; two quotes are one of the field.
fn quoted_field(text: &str) -> Option<(String, &str)> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"')?;
        field.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            // Text between the closing quote and the comma is dropped.
            None => return Some((field, &rest[rest.find([',', '\r', '\n']).unwrap_or(rest.len())..])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, uid: &str, groups: &[&str]) -> User {
        User { uid: uid.to_owned(), ..User::of_groups(name, groups) }
    }

    #[test]
    fn records_are_tokens_of_users() {
        let text = "t1,alice,1\n\nt2,bob,2,\"g,h\"\r\n,nobody,3\nt1,\"al\"\"ice\",4,g\n";
        let want = [
            ("t2".to_owned(), user("bob", "2", &["g", "h"])),
            ("t1".to_owned(), user("al\"ice", "4", &["g"])),
        ];
        assert_eq!(parse(text.as_bytes()).unwrap(), want);
        assert_eq!(parse(b"").unwrap(), []);
        assert_eq!(parse(b"t,u,1,").unwrap(), [("t".to_owned(), user("u", "1", &[]))]);
    }

    #[test]
    fn an_invalid_token_file_is_an_error() {
        let table: [(&[u8], &str); 3] = [
            (b"t,alice", "record 1 has 2 columns; token, user name and user uid are needed"),
            (b"t,a,1\nt,\"b,2", "a quote in record 2 is not closed"),
            (b"\xff", "is not UTF-8"),
        ];
        for (content, want) in table {
            assert_eq!(parse(content).unwrap_err().to_string(), want);
        }
    }
}
