//! Which mutants are tried: a seeded sample in which every file is represented.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::instrument::Mutant;

/// `number` mutants, the same for the same seed: one of each file, then any; all of them if there are no more, or if `number`
/// is 0. Sorted by number.
pub(super) fn sample(mutants: &[Mutant], number: usize, seed: u64) -> Vec<Mutant> {
    if number == 0 || number >= mutants.len() {
        return mutants.to_vec();
    }
    let mut random = Rng::with_seed(seed);
    let mut of_files: BTreeMap<&str, Vec<&Mutant>> = BTreeMap::new();
    for mutant in mutants {
        of_files.entry(&mutant.file).or_default().push(mutant);
    }
    let mut first = Vec::new();
    let mut others = Vec::new();
    for mut mutants in of_files.into_values() {
        random.shuffle(&mut mutants);
        let mut mutants = mutants.into_iter();
        first.extend(mutants.next());
        others.extend(mutants);
    }
    random.shuffle(&mut others);
    let number = number.max(first.len());
    let mut chosen: Vec<Mutant> = first.into_iter().chain(others).take(number).cloned().collect();
    chosen.sort_by_key(|mutant| mutant.id);
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn mutants() -> Vec<Mutant> {
        let mutant = |id: u32| Mutant {
            id,
            file: if id < 90 { "a".to_owned() } else { format!("b{}", id % 3) },
            name: format!("{id}"),
        };
        (1..=100).map(mutant).collect()
    }

    #[test]
    fn every_file_is_in_the_sample_and_a_seed_repeats_it() {
        let chosen = sample(&mutants(), 10, 7);
        let files: BTreeSet<&str> = chosen.iter().map(|mutant| mutant.file.as_str()).collect();
        assert_eq!((chosen.len(), files.len()), (10, 4));
        assert_eq!(chosen, sample(&mutants(), 10, 7));
        assert_ne!(chosen, sample(&mutants(), 10, 8));
    }

    #[test]
    fn no_number_and_a_large_one_take_all() {
        assert_eq!(sample(&mutants(), 0, 1), mutants());
        assert_eq!(sample(&mutants(), 100, 1), mutants());
    }
}
