//! URIs of requests: with a scheme, or an absolute path.
//!
//! Source: package net/url of Go 1.26 (`ParseRequestURI`).

/// Whether Go parses the text as the URI of a request.
pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = scheme(text) else { return false };
    let rest = rest.split('?').next().unwrap_or_default();
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        Some(after) => {
            let end = after.find('/').unwrap_or(after.len());
            is_authority(&after[..end]) && is_escaped(&after[end..])
        }
        None => is_escaped(rest),
    }
}

/// The scheme, which may be empty, and the rest; `None` if the text begins with a colon.
fn scheme(text: &str) -> Option<(&str, &str)> {
    for (at, letter) in text.char_indices() {
        match letter {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return None,
            ':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(authority: &str) -> bool {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_user_letter =
        |letter: char| letter.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(letter);
    user.chars().all(is_user_letter) && is_escaped(user) && is_host(host)
}

fn is_host(host: &str) -> bool {
    if let Some(literal) = host.strip_prefix('[') {
        let Some((address, port)) = literal.rsplit_once(']') else { return false };
        let zone = address.split_once("%25").map_or(address, |(address, _)| address);
        return is_port(port) && zone.chars().all(is_host_letter);
    }
    let port = host.rfind(':').map_or("", |colon| &host[colon..]);
    // Within a host, only bytes beyond ASCII may be escaped.
    let escapes = host.match_indices('%').all(|(at, _)| {
        let digits = host.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        digits.is_some_and(|byte| byte >= 0x80)
    });
    is_port(port) && escapes && host.chars().all(|letter| letter == '%' || is_host_letter(letter))
}

fn is_host_letter(letter: char) -> bool {
    !letter.is_ascii() || letter.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"".contains(letter)
}

fn is_port(port: &str) -> bool {
    port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether two hexadecimal digits follow each `%`.
fn is_escaped(text: &str) -> bool {
    let is_pair = |digits: &[u8]| digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit);
    text.match_indices('%').all(|(at, _)| text.as_bytes().get(at + 1..at + 3).is_some_and(is_pair))
}
