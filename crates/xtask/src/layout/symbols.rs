//! Reads names and sizes of a program's functions.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Context;
use object::{Object as _, ObjectSymbol as _, SymbolKind};

use super::cover::Function;
use super::stem::stem;

/// A function.
pub(super) struct Symbol {
    name: String,
    pub(super) stem: String,
    address: u64,
    size: u64,
}

/// Marks the functions that ran. Functions that the compiler merged have several names, of which a profile contains one.
pub(super) fn mark_ran(symbols: &[Symbol], ran: &BTreeSet<String>) -> Vec<Function> {
    let addresses: BTreeSet<u64> =
        symbols.iter().filter(|symbol| ran.contains(&symbol.name)).map(|symbol| symbol.address).collect();
    let function = |symbol: &Symbol| Function {
        stem: symbol.stem.clone(),
        size: symbol.size,
        ran: addresses.contains(&symbol.address),
    };
    symbols.iter().map(function).collect()
}

/// Reads all functions of an unstripped program.
pub(super) fn read(binary: &Path) -> anyhow::Result<Vec<Symbol>> {
    let failed = || format!("failed to read the symbols of {}", binary.display());
    let bytes = std::fs::read(binary).with_context(failed)?;
    let file = object::File::parse(&*bytes).with_context(failed)?;
    let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
    let found: Vec<Symbol> = functions
        .filter_map(|symbol| {
            let name = symbol.name().ok().filter(|name| name.is_ascii())?.to_owned();
            Some(Symbol { stem: stem(&name), name, address: symbol.address(), size: symbol.size() })
        })
        .collect();
    anyhow::ensure!(!found.is_empty(), "{} is stripped: its functions have no names", binary.display());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_ran_if_one_of_its_names_did() {
        let symbol =
            |name: &str, address| Symbol { name: name.to_owned(), stem: name.to_owned(), address, size: 8 };
        let symbols = [symbol("one", 16), symbol("same_as_one", 16), symbol("other", 32)];
        let marked = mark_ran(&symbols, &BTreeSet::from(["one".to_owned()]));
        assert_eq!(marked.iter().map(|function| function.ran).collect::<Vec<_>>(), [true, true, false]);
    }
}
