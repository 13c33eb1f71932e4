//! URLs as Go's `net/url` parses and writes them, because kube-apiserver validates and calls them.

use std::net::Ipv6Addr;

use crate::field::quote;

/// The parts of a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// Scheme in lower case; empty if there is none.
    pub scheme: String,
    /// User and password, escaped; `None` without an `@`.
    pub user: Option<String>,
    /// `host` or `host:port`, unescaped.
    pub host: String,
    /// Path, unescaped.
    pub path: Vec<u8>,
    /// The part after the `?`, unchanged.
    pub query: String,
    /// The part after the `#`, unescaped.
    pub fragment: String,
}

/// Reason a text is not a URL, with Go's message; that for an IP address in brackets is shortened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parse {}: {why}", quote(address))]
pub struct UrlError {
    address: String,
    why: String,
}

/// The part of a URL that a text belongs to, which decides the allowed characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UrlPart {
    User,
    Host,
    Zone,
    Path,
}

impl Url {
    /// Parses a URL.
    ///
    /// # Errors
    /// If Go rejects it.
    pub fn parse(address: &str) -> Result<Self, UrlError> {
        let (before, fragment) = address.split_once('#').unwrap_or((address, ""));
        let error = |address: &str, why| UrlError { address: address.to_owned(), why };
        let url = Self::without_fragment(before).map_err(|why| error(before, why))?;
        let fragment = unescape(fragment, UrlPart::Path).map_err(|why| error(address, why))?;
        Ok(Self { fragment: String::from_utf8_lossy(&fragment).into_owned(), ..url })
    }

    /// The port, if there is one.
    #[must_use]
    pub fn port(&self) -> Option<&str> {
        let after = self.host.rsplit_once(']').map_or(self.host.as_str(), |(_, after)| after);
        after.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.is_empty())
    }

    /// The path in client-go's requests; see [`request_path`].
    #[must_use]
    pub fn request_path(&self) -> String {
        request_path(&self.path)
    }

    fn without_fragment(address: &str) -> Result<Self, String> {
        if address.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if address == "*" {
            return Ok(Self { path: b"*".to_vec(), ..Self::default() });
        }
        let (scheme, rest) = split_scheme(address)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut url = Self { scheme: scheme.to_lowercase(), query: query.to_owned(), ..Self::default() };
        if !rest.starts_with('/') {
            if !scheme.is_empty() {
                // Go calls this part opaque: the URL has neither host nor path.
                return Ok(url);
            }
            if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let mut path = rest;
        if let Some(rest) = rest.strip_prefix("//")
            && (!scheme.is_empty() || !rest.starts_with('/'))
        {
            let authority = rest.find('/').map_or(rest, |slash| &rest[..slash]);
            path = &rest[authority.len()..];
            let (user, written) = match authority.rsplit_once('@') {
                Some((user, host)) => (Some(user), host),
                None => (None, authority),
            };
            url.host = parse_host(&url.scheme, written)?;
            url.user = user.map(parse_user).transpose()?;
        }
        url.path = unescape(path, UrlPart::Path)?;
        Ok(url)
    }
}

/// A path in client-go's requests: normalized (`//a/../b/` is `/b`) and escaped where necessary.
#[must_use]
pub fn request_path(path: &[u8]) -> String {
    let mut steps: Vec<&[u8]> = Vec::new();
    for step in path.split(|byte| *byte == b'/') {
        match step {
            b"" | b"." => {}
            b".." => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    format!("/{}", escape(&steps.join(&b'/'), b"$&+,/:;=@"))
}

/// Splits off the scheme; empty if the address begins with something else.
fn split_scheme(address: &str) -> Result<(&str, &str), String> {
    let end = address.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)));
    match end.filter(|end| address.as_bytes()[*end] == b':') {
        Some(0) => Err("missing protocol scheme".to_owned()),
        Some(end) if address.as_bytes()[0].is_ascii_alphabetic() => {
            Ok((&address[..end], &address[end + 1..]))
        }
        _ => Ok(("", address)),
    }
}

fn parse_user(written: &str) -> Result<String, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !written.chars().all(known) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let parts = written.splitn(2, ':').map(|part| Ok(escape(&unescape(part, UrlPart::User)?, b"$&+,;=")));
    Ok(parts.collect::<Result<Vec<String>, String>>()?.join(":"))
}

fn parse_host(scheme: &str, written: &str) -> Result<String, String> {
    match written.rfind('[') {
        Some(0) => return parse_bracketed(written),
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    // Other schemes may have a list of hosts.
    let colon = if matches!(scheme, "http" | "https") { written.find(':') } else { written.rfind(':') };
    check_port(colon.map_or("", |colon| &written[colon..]))?;
    Ok(String::from_utf8_lossy(&unescape(written, UrlPart::Host)?).into_owned())
}

/// Parses `[::1]:443`, optionally with a zone.
fn parse_bracketed(written: &str) -> Result<String, String> {
    let (inner, port) = written[1..].rsplit_once(']').ok_or("missing ']' in host")?;
    check_port(port)?;
    let (address, zone) = inner.split_at(inner.find("%25").unwrap_or(inner.len()));
    let mut name = unescape(address, UrlPart::Host)?;
    let ip = String::from_utf8_lossy(&name).parse::<Ipv6Addr>();
    name.extend(unescape(zone, UrlPart::Zone)?);
    let name = String::from_utf8_lossy(&name).into_owned();
    if name.parse::<std::net::Ipv4Addr>().is_ok() {
        return Err("invalid IP-literal".to_owned());
    }
    ip.map_err(|_| format!("invalid host: ParseAddr({}): unable to parse IP", quote(&name)))?;
    Ok(format!("[{name}]{port}"))
}

/// Checks that the text after a host is empty or a port.
fn check_port(written: &str) -> Result<(), String> {
    let digits = written.strip_prefix(':').unwrap_or(written);
    let is_valid =
        written.is_empty() || (written.starts_with(':') && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_valid { Ok(()) } else { Err(format!("invalid port {} after host", quote(written))) }
}

fn unescape(text: &str, part: UrlPart) -> Result<Vec<u8>, String> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'%' {
            if matches!(part, UrlPart::Host | UrlPart::Zone) && byte.is_ascii() && !is_allowed_in_host(*byte)
            {
                let character = quote(&char::from(*byte).to_string());
                return Err(format!("invalid character {character} in host name"));
            }
            plain.push(*byte);
            at += 1;
            continue;
        }
        let digits = bytes.get(at + 1..at + 3).unwrap_or_default();
        let value = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 2);
        let value = value.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let value = value.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let permitted = value.filter(|value| match part {
            UrlPart::User | UrlPart::Path => true,
            UrlPart::Host => *value >= 0x80 || *value == b'%',
            UrlPart::Zone => matches!(*value, b'%' | b' ') || is_allowed_in_host(*value),
        });
        let Some(value) = permitted else {
            let shown = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 3)]).into_owned();
            return Err(format!("invalid URL escape {}", quote(&shown)));
        };
        plain.push(value);
        at += 3;
    }
    Ok(plain)
}

/// Whether an ASCII byte is allowed unescaped in a host.
fn is_allowed_in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}

/// Escapes all bytes but letters, digits, `-_.~` and those in `kept`.
fn escape(text: &[u8], kept: &[u8]) -> String {
    let one = |byte: &u8| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(byte) || kept.contains(byte) {
            char::from(*byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of Go 1.26: scheme, user, host, request path, query, fragment.
    #[test]
    fn urls_are_parsed_as_by_go() {
        let table: [(&str, [&str; 6]); 19] = [
            ("HTTPS://127.0.0.1:9943/", ["https", "-", "127.0.0.1:9943", "/", "", ""]),
            ("https://h", ["https", "-", "h", "/", "", ""]),
            ("https://h:", ["https", "-", "h:", "/", "", ""]),
            ("https://h//hooks/../b/./c/", ["https", "-", "h", "/b/c", "", ""]),
            ("https://h/../a", ["https", "-", "h", "/a", "", ""]),
            ("https://h/a%2Fb", ["https", "-", "h", "/a/b", "", ""]),
            (
                "https://h/%ff ü!*()[]$&+,;=:@?x#y%20z",
                ["https", "-", "h", "/%FF%20%C3%BC%21%2A%28%29%5B%5D$&+,;=:@", "x", "y z"],
            ),
            ("https://u:p%40:x@h/", ["https", "u:p%40%3Ax", "h", "/", "", ""]),
            ("https://@h", ["https", "", "h", "/", "", ""]),
            ("https://[::1]:443/x", ["https", "-", "[::1]:443", "/x", "", ""]),
            ("https://[fe80::1%25en0]/", ["https", "-", "[fe80::1%en0]", "/", "", ""]),
            ("https:h", ["https", "-", "", "/", "", ""]),
            ("https:///x", ["https", "-", "", "/x", "", ""]),
            ("h", ["", "-", "", "/h", "", ""]),
            ("///x", ["", "-", "", "/x", "", ""]),
            ("*", ["", "-", "", "/%2A", "", ""]),
            ("https://ü<>\"/x?%zz", ["https", "-", "ü<>\"", "/x", "%zz", ""]),
            ("postgres://a:1,b:2/", ["postgres", "-", "a:1,b:2", "/", "", ""]),
            ("", ["", "-", "", "/", "", ""]),
        ];
        for (address, want) in table {
            let url = Url::parse(address).unwrap();
            let (user, path) = (url.user.as_deref().unwrap_or("-"), url.request_path());
            let found = [&url.scheme, user, &url.host, &path, &url.query, &url.fragment];
            assert_eq!(found, want, "{address}");
        }
        for (address, port) in [("https://h:1", Some("1")), ("https://[::1]", None), ("https://h:", None)] {
            assert_eq!(Url::parse(address).unwrap().port(), port, "{address}");
        }
    }

    #[test]
    fn urls_that_go_rejects_have_its_message() {
        let table = [
            ("https://127.0.0.1:9943%2Fx", r#"invalid port ":9943%2Fx" after host"#),
            ("https://127.0.0.1:abc/", r#"invalid port ":abc" after host"#),
            ("https://::1/", r#"invalid port "::1" after host"#),
            ("https://[::1]a/", r#"invalid port "a" after host"#),
            ("https://[::1/", "missing ']' in host"),
            ("https://x[::1]/", "invalid IP-literal"),
            ("https://[1.2.3.4]/", "invalid IP-literal"),
            ("https://[x]/", r#"invalid host: ParseAddr("x"): unable to parse IP"#),
            ("https://[fe80::1%en0]/", r#"invalid URL escape "%en""#),
            ("https://a b/", r#"invalid character " " in host name"#),
            ("https://h\\x/", r#"invalid character "\\" in host name"#),
            ("https://h%41/", r#"invalid URL escape "%41""#),
            ("https://127.0.0.1/%zz", r#"invalid URL escape "%zz""#),
            ("https://h/%2", r#"invalid URL escape "%2""#),
            ("https://h/%+1", r#"invalid URL escape "%+1""#),
            ("https://u{@h/", "net/url: invalid userinfo"),
            ("https://h/\u{1}", "net/url: invalid control character in URL"),
            ("://h", "missing protocol scheme"),
            ("1h://x", "first path segment in URL cannot contain colon"),
        ];
        for (address, why) in table {
            let want = format!("parse {}: {why}", quote(address));
            assert_eq!(Url::parse(address).unwrap_err().to_string(), want);
        }
        let fragment = Url::parse("https://h/#%zz").unwrap_err().to_string();
        assert_eq!(fragment, r#"parse "https://h/#%zz": invalid URL escape "%zz""#);
    }
}
