//! Parses the extensions of a certificate; each may occur once.

use std::collections::BTreeSet;

use super::certificate::{BasicConstraints, Extensions};
use super::constraints::NameConstraints;
use super::der::{BITS, BOOLEAN, DerReader, INTEGER, OBJECT_ID, OCTETS, SEQUENCE, arcs};
use super::{AlternativeNames, X509Error};

/// `1.3.6.1.5.5.7.1.1`
const AUTHORITY_INFORMATION: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01];

/// Parses the part after the key in a certificate of version 2 or 3.
pub(super) fn read(mut body: DerReader<'_>, version: i64) -> Result<Extensions, X509Error> {
    let malformed = || X509Error::Malformed("extensions");
    body.optional(0x81).map_err(|_| X509Error::Malformed("unique identifier"))?;
    body.optional(0x82).map_err(|_| X509Error::Malformed("unique identifier"))?;
    let mut extensions = Extensions::default();
    if version < 3 {
        return Ok(extensions);
    }
    let Some(mut list) = body.optional(0xa3).map_err(|_| malformed())? else { return Ok(extensions) };
    let mut list = list.within(SEQUENCE).ok_or_else(malformed)?;
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    while !list.is_empty() {
        let mut extension = list.within(SEQUENCE).ok_or_else(malformed)?;
        let id = extension.object_id().ok_or_else(malformed)?;
        let critical =
            if extension.next_is(BOOLEAN) { extension.boolean().ok_or_else(malformed)? } else { false };
        let value = extension.element(OCTETS).ok_or_else(malformed)?.content;
        if !seen.insert(id) {
            return Err(X509Error::Duplicate(dotted(id)));
        }
        all.push((id, critical, value));
    }
    for (id, critical, value) in all {
        let handled = match id {
            [0x55, 0x1d, number] => certificate_extension(&mut extensions, *number, critical, value)?,
            AUTHORITY_INFORMATION if critical => return Err(X509Error::Malformed("authority info access")),
            AUTHORITY_INFORMATION => {
                check_access(value).ok_or(X509Error::Malformed("authority info access"))?;
                true
            }
            _ => false,
        };
        extensions.unknown_critical |= critical && !handled;
    }
    Ok(extensions)
}

fn dotted(id: &[u8]) -> String {
    let arcs: Vec<String> = arcs(id).unwrap_or_default().iter().map(u64::to_string).collect();
    arcs.join(".")
}

/// Parses an extension of `2.5.29`; false if it is unknown.
fn certificate_extension(
    extensions: &mut Extensions,
    number: u8,
    critical: bool,
    value: &[u8],
) -> Result<bool, X509Error> {
    let mut reader = DerReader::new(value);
    let malformed = |what| move || X509Error::Malformed(what);
    match number {
        14 => {
            extensions.subject_key =
                subject_key(critical, reader).ok_or_else(malformed("subject key identifier"))?;
        }
        15 => extensions.key_usage = key_usage(reader).ok_or_else(malformed("key usage"))?,
        17 => {
            extensions.names = AlternativeNames::read(value)?;
            extensions.raw_names = Some(value.to_owned());
            return Ok(!extensions.names.is_empty());
        }
        19 => extensions.authority = Some(authority(reader).ok_or_else(malformed("basic constraints"))?),
        30 => {
            let (constraints, is_known) = NameConstraints::read(value)?;
            extensions.name_constraints = Some(constraints);
            return Ok(is_known);
        }
        31 => check_distribution_points(reader).ok_or_else(malformed("CRL distribution points"))?,
        32 => check_policies(reader).ok_or_else(malformed("certificate policies"))?,
        33 => check_mappings(reader).ok_or_else(malformed("policy mappings"))?,
        35 => {
            extensions.authority_key =
                authority_key(critical, reader).ok_or_else(malformed("authority key identifier"))?;
        }
        36 => {
            let requires = policy_constraints(reader).ok_or_else(malformed("policy constraints"))?;
            extensions.requires_policies = requires;
        }
        37 => extensions.usages = usages(reader).ok_or_else(malformed("extended key usages"))?,
        54 => drop(reader.small_integer().ok_or_else(malformed("inhibit any policy"))?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn subject_key(critical: bool, mut value: DerReader<'_>) -> Option<Vec<u8>> {
    if critical { None } else { value.element(OCTETS).map(|key| key.content.to_owned()) }
}

fn authority_key(critical: bool, mut value: DerReader<'_>) -> Option<Vec<u8>> {
    if critical {
        return None;
    }
    let key = value.within(SEQUENCE)?.any_if(0x80).ok()?;
    Some(key.map(|key| key.content.to_owned()).unwrap_or_default())
}

/// The first nine bits of a key usage.
fn key_usage(mut value: DerReader<'_>) -> Option<u16> {
    let element = value.element(BITS)?;
    DerReader::new(element.whole).bits()?;
    let bits = &element.content[1..];
    let bit = |at: usize| bits.get(at / 8).is_some_and(|byte| byte & (0x80 >> (at % 8)) != 0);
    Some((0..9).filter(|at| bit(*at)).fold(0, |usage, at| usage | (1 << at)))
}

fn authority(mut value: DerReader<'_>) -> Option<BasicConstraints> {
    let mut parts = value.within(SEQUENCE)?;
    let is_authority = if parts.next_is(BOOLEAN) { parts.boolean()? } else { false };
    let mut longest_path = None;
    if parts.next_is(INTEGER) {
        longest_path = Some(u64::try_from(parts.small_integer()?).ok()?);
    }
    Some(BasicConstraints { is_authority, longest_path })
}

fn usages(mut value: DerReader<'_>) -> Option<Vec<Vec<u8>>> {
    let mut usages = value.within(SEQUENCE)?;
    let mut all = Vec::new();
    while !usages.is_empty() {
        all.push(usages.object_id()?.to_owned());
    }
    Some(all)
}

fn check_distribution_points(mut value: DerReader<'_>) -> Option<()> {
    let mut points = value.within(SEQUENCE)?;
    while !points.is_empty() {
        if let Some(mut name) = points.within(SEQUENCE)?.optional(0xa0).ok()? {
            let mut names = name.within(0xa0)?;
            while names.next_is(0x86) {
                names.any()?;
            }
        }
    }
    Some(())
}

fn check_policies(mut value: DerReader<'_>) -> Option<()> {
    let mut policies = value.within(SEQUENCE)?;
    let mut seen = BTreeSet::new();
    while !policies.is_empty() {
        let id = policies.within(SEQUENCE)?.element(OBJECT_ID)?.content;
        if id.is_empty() || id.last()? & 0x80 != 0 || !seen.insert(id) {
            return None;
        }
    }
    Some(())
}

fn check_mappings(mut value: DerReader<'_>) -> Option<()> {
    let mut mappings = value.within(SEQUENCE)?;
    while !mappings.is_empty() {
        let mut mapping = mappings.within(SEQUENCE)?;
        mapping.element(OBJECT_ID)?;
        mapping.element(OBJECT_ID)?;
    }
    Some(())
}

/// Checks the extension; true if it requires policies.
fn policy_constraints(mut value: DerReader<'_>) -> Option<bool> {
    let mut parts = value.within(SEQUENCE)?;
    let requires = has_number(&mut parts, 0x80)?;
    has_number(&mut parts, 0x81)?;
    Some(requires)
}

/// Checks an optional number with this tag; true if it is present.
fn has_number(parts: &mut DerReader<'_>, tag: u8) -> Option<bool> {
    let Some(number) = parts.any_if(tag).ok()? else { return Some(false) };
    let integer = [
        &[INTEGER, u8::try_from(number.content.len()).ok().filter(|length| *length < 0x80)?],
        number.content,
    ];
    DerReader::new(&integer.concat()).small_integer().map(|_| true)
}

fn check_access(value: &[u8]) -> Option<()> {
    let mut descriptions = DerReader::new(value).within(SEQUENCE)?;
    while !descriptions.is_empty() {
        let mut description = descriptions.within(SEQUENCE)?;
        description.object_id()?;
        description.any_if(0x86).ok()?;
    }
    Some(())
}
