//! URIs of alternative names: parsed as by Go's `net/url`, with a host that Go's `crypto/x509` accepts as a domain.

use std::net::{IpAddr, Ipv6Addr};

/// Whether a text is a valid URI of an alternative name.
pub(super) fn is_uri(text: &str) -> bool {
    parse(text).is_some_and(|host| is_domain(&host))
}

/// The domain of a URI in lower case; `None` if it has none, or an IP address.
pub(super) fn host(text: &str) -> Option<String> {
    let host = parse(text)?.to_ascii_lowercase();
    let host = host.split_once(':').map_or(host.as_str(), |(host, _)| host);
    let domain = !host.is_empty() && !host.starts_with('[') && host.parse::<IpAddr>().is_err();
    domain.then(|| host.to_owned())
}

/// The host with its port, empty if the URI has none; `None` if the text is not a URI.
fn parse(text: &str) -> Option<String> {
    // The fragment has the same rule for percent signs as the path.
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) || !has_valid_escapes(fragment) {
        return None;
    }
    if text == "*" {
        return Some(String::new());
    }
    let (scheme, rest) = scheme(text)?;
    let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
    let without_host = |is_valid: bool| is_valid.then(String::new);
    if !rest.starts_with('/') {
        let segment = rest.split('/').next().unwrap_or_default();
        return without_host(!scheme.is_empty() || (!segment.contains(':') && has_valid_escapes(rest)));
    }
    let authority = if scheme.is_empty() && rest.starts_with("///") { None } else { rest.strip_prefix("//") };
    let Some(authority) = authority else { return without_host(has_valid_escapes(rest)) };
    let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
    authority_host(scheme, authority).filter(|_| has_valid_escapes(path))
}

/// Splits off the scheme, empty if there is none; `None` if the text begins with a colon.
fn scheme(text: &str) -> Option<(&str, &str)> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return None,
            b':' => return Some((&text[..at], &text[at + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

fn authority_host(scheme: &str, authority: &str) -> Option<String> {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_user =
        user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte));
    parse_host(scheme, host).filter(|_| is_user && has_valid_escapes(user))
}

/// The host with its port, unescaped.
fn parse_host(scheme: &str, host: &str) -> Option<String> {
    if let Some(open) = host.rfind('[') {
        let close = host.rfind(']').filter(|_| open == 0)?;
        let (address, zone) =
            host[1..close].split_once("%25").map_or((&host[1..close], None), |(a, z)| (a, Some(z)));
        let port = &host[close + 1..];
        let is_zone = zone.is_none_or(|zone| !zone.is_empty() && unescape_host(zone).is_some());
        let is_valid = is_port(port) && is_zone && address.parse::<Ipv6Addr>().is_ok();
        return is_valid.then(|| host.replace("%25", "%"));
    }
    if let Some(first) = host.find(':') {
        let strict = ["http", "https"].iter().any(|name| scheme.eq_ignore_ascii_case(name));
        let at = if strict { first } else { host.rfind(':')? };
        if !is_port(&host[at..]) {
            return None;
        }
    }
    unescape_host(host)
}

fn is_port(port: &str) -> bool {
    port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Unescapes a host; `None` if a character is not allowed. Go also allows escaped non-ASCII bytes, but no domain has them.
fn unescape_host(host: &str) -> Option<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte);
    let escaped = host.match_indices('%').all(|(at, _)| host[at..].starts_with("%25"));
    (escaped && host.bytes().all(allowed)).then(|| host.replace("%25", "%"))
}

/// Whether each percent sign is followed by two hexadecimal digits.
fn has_valid_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices('%')
        .all(|(at, _)| bytes.get(at + 1..at + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)))
}

/// Whether a text is empty or a domain: visible ASCII without empty labels, so without a trailing dot.
pub(super) fn is_domain(text: &str) -> bool {
    text.is_empty()
        || text.bytes().all(|byte| (33..=126).contains(&byte))
            && text.split('.').all(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_those_that_go_parses() {
        for good in [
            "",
            "a",
            "a/b",
            "spiffe://x/y",
            "urn:a:b",
            "https://h:1/p?q#f",
            "https://[::1]:2/",
            "//h/p",
            "?%zz",
            "a:%zz",
            "https://",
            "http://a@b/",
            "x://a:b:1/",
            "*",
        ] {
            assert!(is_uri(good), "{good}");
        }
        for bad in [
            ":a",
            "a\u{1}",
            "https://h:x/",
            "https://h /",
            "/%zz",
            "https://h%41/",
            "https://a..b/",
            "https://a./",
            "1:b",
            "http://a:b:1/",
            "https://[::1/",
            "https://[1.2.3.4]/",
            "#%z",
            "https://.a/",
        ] {
            assert!(!is_uri(bad), "{bad}");
        }
    }
}
