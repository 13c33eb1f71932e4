//! Whether a text is a URI to Go's `net/url`, and its host a domain to `crypto/x509`.

use std::net::{IpAddr, Ipv6Addr};

/// Whether an alternative name may say this.
pub(super) fn is_uri(text: &str) -> bool {
    parse(text).is_some_and(|host| is_domain(&host))
}

/// The domain a URI speaks of, in small letters; absent where there is none, or an address.
pub(super) fn host(text: &str) -> Option<String> {
    let host = parse(text)?.to_ascii_lowercase();
    let host = host.split_once(':').map_or(host.as_str(), |(host, _)| host);
    let domain = !host.is_empty() && !host.starts_with('[') && host.parse::<IpAddr>().is_err();
    domain.then(|| host.to_owned())
}

/// The host with its port, empty if there is none; absent where the text is no URI.
fn parse(text: &str) -> Option<String> {
    // Percent signs behind `#` are looked at by the same rule as those of a path.
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) || !unescapes(fragment) {
        return None;
    }
    if text == "*" {
        return Some(String::new());
    }
    let (scheme, rest) = scheme(text)?;
    let rest = rest.split_once('?').map_or(rest, |(path, _)| path);
    let path_only = |good: bool| good.then(String::new);
    if !rest.starts_with('/') {
        let segment = rest.split('/').next().unwrap_or_default();
        return path_only(!scheme.is_empty() || (!segment.contains(':') && unescapes(rest)));
    }
    let authority = if scheme.is_empty() && rest.starts_with("///") { None } else { rest.strip_prefix("//") };
    let Some(authority) = authority else { return path_only(unescapes(rest)) };
    let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
    authority_host(scheme, authority).filter(|_| unescapes(path))
}

/// Scheme, empty if there is none, and the rest; `None` where a colon begins the text.
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
    let user_ok =
        user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte));
    host_text(scheme, host).filter(|_| user_ok && unescapes(user))
}

/// The host with its port, unescaped.
fn host_text(scheme: &str, host: &str) -> Option<String> {
    if let Some(open) = host.rfind('[') {
        let close = host.rfind(']').filter(|_| open == 0)?;
        let (address, zone) =
            host[1..close].split_once("%25").map_or((&host[1..close], None), |(a, z)| (a, Some(z)));
        let port = &host[close + 1..];
        let zone_ok = zone.is_none_or(|zone| !zone.is_empty() && host_bytes(zone).is_some());
        let good = is_port(port) && zone_ok && address.parse::<Ipv6Addr>().is_ok();
        return good.then(|| host.replace("%25", "%"));
    }
    if let Some(first) = host.find(':') {
        let strict = ["http", "https"].iter().any(|name| scheme.eq_ignore_ascii_case(name));
        let at = if strict { first } else { host.rfind(':')? };
        if !is_port(&host[at..]) {
            return None;
        }
    }
    host_bytes(host)
}

fn is_port(port: &str) -> bool {
    port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What may stand in a host. Only a percent sign and bytes that are not ASCII may be escaped; the latter no domain has.
fn host_bytes(host: &str) -> Option<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte);
    let escaped = host.match_indices('%').all(|(at, _)| host[at..].starts_with("%25"));
    (escaped && host.bytes().all(allowed)).then(|| host.replace("%25", "%"))
}

/// Whether each percent sign is followed by two digits.
fn unescapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices('%')
        .all(|(at, _)| bytes.get(at + 1..at + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)))
}

/// No empty label, no dot at the end, nothing but visible ASCII.
pub(super) fn is_domain(text: &str) -> bool {
    text.is_empty()
        || text.bytes().all(|byte| (33..=126).contains(&byte))
            && text.split('.').all(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_parses_is_a_uri() {
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
