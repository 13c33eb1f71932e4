//! Replaces the parts of a symbol that depend on the compiler and on the versions of dependencies.

/// A symbol as a linker pattern, in which `?` matches any character; `*` would match too much in the middle of a name.
pub(super) fn stem(symbol: &str) -> String {
    match symbol.split_once('_') {
        Some(("", rest)) if rest.starts_with('R') => without_crate_hashes(symbol),
        Some(("aws", _)) => {
            let digit = |letter: char| if letter.is_ascii_digit() { '?' } else { letter };
            let is_version = |part: &&str| *part == "aws" || *part == "lc" || part.parse::<u16>().is_ok();
            let versioned =
                symbol.split('_').take_while(is_version).map(|part| part.len() + 1).sum::<usize>();
            let (version, name) = symbol.split_at(versioned.min(symbol.len()));
            version.chars().map(digit).chain(name.chars()).collect()
        }
        _ => symbol.to_owned(),
    }
}

/// `Cs4fqI2P2rA04_4core` as `Cs???????????_4core`.
fn without_crate_hashes(name: &str) -> String {
    let mut parts = name.split("Cs");
    let mut stem = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        stem.push_str("Cs");
        match part.split_once('_') {
            Some((hash, rest)) if hash.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                stem.extend(std::iter::repeat_n('?', hash.len()));
                stem.push('_');
                stem.push_str(rest);
            }
            _ => stem.push_str(part),
        }
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_and_versions_are_replaced() {
        assert_eq!(stem("_RNvNtCs4fqI2P2rA04_4core3fmt5write"), "_RNvNtCs???????????_4core3fmt5write");
        assert_eq!(stem("aws_lc_0_47_0_cbs_get_u8"), "aws_lc_?_??_?_cbs_get_u8");
        assert_eq!(stem("mi_free"), "mi_free");
    }
}
