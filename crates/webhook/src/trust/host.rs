//! Checks that a certificate has the name of the requested server. The common name does not count.

use std::net::IpAddr;

use formats::x509::Certificate;
use rustls_pki_types::ServerName;

use super::TrustError;

/// Checks that `leaf` has the alternative name `name`.
pub(super) fn verify(leaf: &Certificate, name: &ServerName<'_>) -> Result<(), TrustError> {
    let names = &leaf.extensions.names;
    let requested = name.to_str();
    let is_match = match name {
        ServerName::IpAddress(_) => {
            requested.parse::<IpAddr>().is_ok_and(|ip| names.ip.contains(&ip.to_canonical()))
        }
        _ => names.dns.iter().any(|pattern| matches(pattern, &requested.to_ascii_lowercase())),
    };
    if is_match {
        return Ok(());
    }
    let addresses = names.ip.iter().map(ToString::to_string);
    let valid: Vec<String> = names.dns.iter().cloned().chain(addresses).collect();
    let valid = if valid.is_empty() { "no name".to_owned() } else { valid.join(", ") };
    Err(TrustError::Name { valid, name: requested.into_owned() })
}

/// Matches a pattern, in which a star may replace the first label. Names that are not host names must be equal.
fn matches(pattern: &str, host: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    let trimmed = host.strip_suffix('.').unwrap_or(host);
    if !is_host(trimmed) || !is_host(pattern.strip_prefix("*.").unwrap_or(&pattern)) {
        return !["", "."].contains(&host) && pattern == host;
    }
    let (labels, parts): (Vec<_>, Vec<_>) = (pattern.split('.').collect(), trimmed.split('.').collect());
    labels.len() == parts.len()
        && labels
            .iter()
            .zip(&parts)
            .enumerate()
            .all(|(at, (label, part))| label == part || (at == 0 && *label == "*"))
}

fn is_host(text: &str) -> bool {
    let allowed =
        |(at, byte): (usize, u8)| byte.is_ascii_alphanumeric() || byte == b'_' || (byte == b'-' && at > 0);
    text.split('.').all(|label| !label.is_empty() && label.bytes().enumerate().all(allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_one_label() {
        let table = [
            ("a.example.com", "a.example.com", true),
            ("A.Example.com", "a.example.com", true),
            ("*.example.com", "a.example.com", true),
            ("a.example.com", "a.example.com.", true),
            ("*.example.com", "a.b.example.com", false),
            ("*.example.com", "example.com", false),
            ("*", "example", false),
            ("a.*.com", "a.b.com", false),
            ("", "a", false),
            ("a", "b", false),
        ];
        for (pattern, host, want) in table {
            assert_eq!(matches(pattern, host), want, "{pattern} {host}");
        }
    }
}
