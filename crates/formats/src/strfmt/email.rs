//! Mail addresses, alone or after a name: `me@example.com`, `Me <me@example.com>`.
//!
//! Source: package net/mail of Go 1.26 (`ParseAddress`).

/// Whether Go parses the text as one address.
pub(super) fn is_address(text: &str) -> bool {
    let text = skip_blanks(text);
    if let Some(rest) = specification(text) {
        return skip_comments(rest).is_some_and(str::is_empty);
    }
    let rest = if text.starts_with('<') { Some(text) } else { phrase(text) };
    let rest = rest.and_then(|rest| skip_blanks(rest).strip_prefix('<'));
    let rest = rest.and_then(specification).and_then(|rest| rest.strip_prefix('>'));
    rest.and_then(skip_comments).is_some_and(str::is_empty)
}

/// Reads `local@domain` and returns the rest.
fn specification(text: &str) -> Option<&str> {
    let text = skip_blanks(text);
    let rest = match text.strip_prefix('"') {
        // An empty quoted text is no local part.
        Some(quoted) => quoted_text(quoted).filter(|rest| rest.len() + 1 < quoted.len())?,
        None => dotted_atom(text)?,
    };
    let rest = skip_blanks(rest.strip_prefix('@')?);
    match rest.strip_prefix('[') {
        Some(literal) => {
            let (address, rest) = literal.split_once(']')?;
            address.parse::<std::net::IpAddr>().ok().map(|_| rest)
        }
        None => dotted_atom(rest),
    }
}

fn skip_blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

/// Skips blanks and comments; `None` if a comment does not end.
fn skip_comments(text: &str) -> Option<&str> {
    let mut rest = skip_blanks(text);
    while let Some(comment) = rest.strip_prefix('(') {
        let (mut depth, mut escaped, mut end) = (1, false, None);
        for (at, letter) in comment.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = Some(at + 1);
                break;
            }
        }
        rest = skip_blanks(&comment[end?..]);
    }
    Some(rest)
}

/// Reads an atom without dots at its ends or beside each other, and returns the rest.
fn dotted_atom(text: &str) -> Option<&str> {
    let (atom, rest) = text.split_at(atom_length(text));
    let is_dotted = atom.starts_with('.') || atom.ends_with('.') || atom.contains("..");
    (!atom.is_empty() && !is_dotted).then_some(rest)
}

fn atom_length(text: &str) -> usize {
    let is_atom = |letter: char| {
        !matches!(letter, '(' | ')' | '<' | '>' | '[' | ']' | ':' | ';' | '@' | '\\' | ',' | '"')
            && (('!'..='~').contains(&letter) || !letter.is_ascii())
    };
    text.find(|letter| !is_atom(letter)).unwrap_or(text.len())
}

/// Reads a quoted text whose first quote is read already, and returns the rest.
fn quoted_text(text: &str) -> Option<&str> {
    let is_visible = |letter: char| (' '..='~').contains(&letter) || letter == '\t' || !letter.is_ascii();
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            letter if !is_visible(letter) => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(&text[at + 1..]),
            _ => {}
        }
    }
    None
}

/// Reads the words of a name, and returns the rest.
fn phrase(text: &str) -> Option<&str> {
    let (mut rest, mut words) = (text, 0);
    loop {
        let next = skip_blanks(rest);
        let after = match next.strip_prefix('"') {
            Some(quoted) => quoted_text(quoted),
            None => Some(&next[atom_length(next)..]).filter(|after| after.len() < next.len()),
        };
        let Some(after) = after else { break };
        (rest, words) = (after, words + 1);
    }
    (words > 0).then_some(rest)
}
