//! Name constraints: the names that an authority may sign.

use std::net::IpAddr;

use super::der::{DerReader, SEQUENCE};
use super::uri::{self, is_domain};
use super::{AlternativeNames, X509Error};

/// The extension. If any subtree permits names of a type, every name of that type must be in one of them. No name may be in
/// an excluded subtree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameConstraints {
    permitted: Subtrees,
    excluded: Subtrees,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Subtrees {
    dns: Vec<String>,
    ip: Vec<(Vec<u8>, Vec<u8>)>,
    email: Vec<String>,
    uri: Vec<String>,
    /// Whether a name type is unknown to Go.
    unknown: bool,
}

impl NameConstraints {
    /// Parses the extension's value; true if all its name types are known.
    pub(super) fn read(value: &[u8]) -> Result<(Self, bool), X509Error> {
        let constraints = parse(value).ok_or(X509Error::Malformed("name constraints"))?;
        let is_known = !constraints.permitted.unknown && !constraints.excluded.unknown;
        Ok((constraints, is_known))
    }

    /// Whether these names may be signed.
    #[must_use]
    pub fn allow(&self, names: &AlternativeNames) -> bool {
        let (permitted, excluded) = (&self.permitted, &self.excluded);
        let ip = names.ip.iter().all(|ip| {
            let within =
                |trees: &[(Vec<u8>, Vec<u8>)]| trees.iter().any(|(net, mask)| contains(net, mask, *ip));
            (permitted.ip.is_empty() || within(&permitted.ip)) && !within(&excluded.ip)
        });
        let dns = names.dns.iter().all(|name| {
            is_domain(name)
                && is_allowed(&permitted.dns, &excluded.dns, name, |domain| is_below(domain, name))
        });
        // Go parses names of these two types as soon as there is any constraint.
        let uri = names.uri.iter().all(|text| {
            uri::host(text).is_some_and(|host| {
                is_allowed(&permitted.uri, &excluded.uri, &host, |tree| is_below(tree, &host))
            })
        });
        let email = names.email.iter().all(|text| {
            mailbox(text).is_some_and(|(local, domain)| {
                let is_in = |tree: &str| match mailbox(tree) {
                    Some((other, at)) => other == local && at.eq_ignore_ascii_case(domain),
                    None => is_below(tree, domain),
                };
                is_allowed(&permitted.email, &excluded.email, domain, is_in)
            })
        });
        ip && dns && uri && email
    }
}

/// Whether a name is permitted and not excluded. An excluded subtree also excludes the wildcard of its parent domain.
fn is_allowed(permitted: &[String], excluded: &[String], name: &str, is_in: impl Fn(&str) -> bool) -> bool {
    let wildcard = name.strip_prefix('*').filter(|parent| parent.starts_with('.'));
    let is_wildcard_of = |tree: &str| {
        let parent = tree.find('.').map(|dot| &tree[dot..]);
        wildcard.is_some_and(|wildcard| parent.is_some_and(|parent| parent.eq_ignore_ascii_case(wildcard)))
    };
    (permitted.is_empty() || permitted.iter().any(|tree| is_in(tree)))
        && !excluded.iter().any(|tree| is_in(tree) || is_wildcard_of(tree))
}

/// Whether a domain equals `tree` or is below it; a tree with a leading dot (`.a`) contains only domains below `a`.
fn is_below(tree: &str, name: &str) -> bool {
    let Some(start) = name.len().checked_sub(tree.len()).filter(|at| name.is_char_boundary(*at)) else {
        return false;
    };
    let (before, suffix) = name.split_at(start);
    suffix.eq_ignore_ascii_case(tree)
        && (tree.is_empty() || tree.starts_with('.') || before.is_empty() || before.ends_with('.'))
}

fn contains(net: &[u8], mask: &[u8], ip: IpAddr) -> bool {
    let bytes = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    bytes.len() == net.len()
        && bytes.iter().zip(net).zip(mask).all(|((byte, net), mask)| byte & mask == net & mask)
}

/// The parts before and after the `@`. Quoted and escaped local parts are not supported and therefore never permitted.
fn mailbox(text: &str) -> Option<(&str, &str)> {
    let (local, domain) = text.split_once('@')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte);
    let dots = local.starts_with('.') || local.ends_with('.') || local.contains("..");
    let is_valid = !local.is_empty() && !dots && local.bytes().all(plain) && is_domain(domain);
    is_valid.then_some((local, domain))
}

fn parse(value: &[u8]) -> Option<NameConstraints> {
    let mut outer = DerReader::new(value);
    let mut parts = outer.within(SEQUENCE)?;
    let (permitted, excluded) = (parts.optional(0xa0).ok()?, parts.optional(0xa1).ok()?);
    let nothing = [permitted, excluded].iter().flatten().all(DerReader::is_empty);
    if !outer.is_empty() || !parts.is_empty() || nothing {
        return None;
    }
    let all = |trees: Option<DerReader<'_>>| trees.map_or_else(|| Some(Subtrees::default()), subtrees);
    Some(NameConstraints { permitted: all(permitted)?, excluded: all(excluded)? })
}

fn subtrees(mut list: DerReader<'_>) -> Option<Subtrees> {
    let mut trees = Subtrees::default();
    while !list.is_empty() {
        let base = list.within(SEQUENCE)?.any()?;
        let text =
            || std::str::from_utf8(base.content).ok().filter(|text| text.is_ascii()).map(str::to_owned);
        match base.tag {
            0x81 => trees.email.push(text().filter(|text| is_tree(text) || mailbox(text).is_some())?),
            0x82 => trees.dns.push(text().filter(|text| is_tree(text))?),
            0x86 => {
                trees.uri.push(text().filter(|text| is_tree(text) && text.parse::<IpAddr>().is_err())?);
            }
            0x87 => trees.ip.push(network(base.content)?),
            _ => trees.unknown = true,
        }
    }
    Some(trees)
}

/// Whether a text is a domain, with or without a leading dot.
fn is_tree(text: &str) -> bool {
    !text.contains('@') && is_domain(text.strip_prefix('.').filter(|rest| !rest.is_empty()).unwrap_or(text))
}

/// Parses address and mask, which have the same length; the mask must be ones followed by zeros.
fn network(bytes: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if ![8, 32].contains(&bytes.len()) {
        return None;
    }
    let (net, mask) = bytes.split_at(bytes.len() / 2);
    let mut after = mask.iter().skip_while(|byte| **byte == 0xff);
    let first = after.next().copied().unwrap_or_default();
    let ones_first = first.leading_ones() == first.count_ones() && after.all(|byte| *byte == 0);
    ones_first.then(|| (net.to_owned(), mask.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dns: &[&str], ip: &[&str]) -> AlternativeNames {
        AlternativeNames {
            dns: dns.iter().map(|name| (*name).to_owned()).collect(),
            ip: ip.iter().map(|ip| ip.parse().unwrap()).collect(),
            ..AlternativeNames::default()
        }
    }

    #[test]
    fn names_are_matched_against_subtrees() {
        let dns = |all: &[&str]| Subtrees { dns: names(all, &[]).dns, ..Subtrees::default() };
        let none = Subtrees::default;
        let ten = || Subtrees { ip: vec![(vec![10, 0, 0, 0], vec![255, 0, 0, 0])], ..none() };
        let table = [
            (dns(&["a.de"]), none(), names(&["x.A.de", "a.de"], &["1.1.1.1"]), true),
            (dns(&["a.de"]), none(), names(&["xa.de"], &[]), false),
            (dns(&[".a.de"]), none(), names(&["a.de"], &[]), false),
            (none(), dns(&["a.de"]), names(&["x.a.de"], &[]), false),
            (none(), dns(&["b.a.de"]), names(&["*.a.de"], &[]), false),
            (none(), dns(&["a.de"]), names(&["b.de"], &[]), true),
            (ten(), none(), names(&[], &["10.1.1.1"]), true),
            (ten(), none(), names(&[], &["11.1.1.1"]), false),
            (none(), ten(), names(&[], &["10.1.1.1"]), false),
        ];
        for (permitted, excluded, names, want) in table {
            let constraints = NameConstraints { permitted, excluded };
            assert_eq!(constraints.allow(&names), want, "{constraints:?} {names:?}");
        }
    }
}
