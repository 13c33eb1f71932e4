//! Judges a perturbed run: what a step or `never` says, and what no perturbation is a reason for.

use contract::scenario::ObjectRef;

use crate::report::Check;
use crate::run::scenario::{ObservedWrite, TargetHistory};

/// For each perturbation, a run may have the writes of the undisturbed run once more, and this many beside. The usual limiter of a
/// controller, which waits 5 ms after a failure and then twice as long each time, tries that often in the 3 seconds for which a
/// perturbation may last.
const MORE: usize = 10;
/// The same for refused writes: three controllers of one component may write the same object.
const MORE_REFUSED: usize = 30;

/// All that is wrong with a run that has a number of perturbations; `checks` are those of its steps that failed.
pub(super) fn judge(
    undisturbed: &TargetHistory,
    (perturbed, count): (&TargetHistory, usize),
    mut checks: Vec<Check>,
) -> Vec<Check> {
    // What is there after a step that failed says nothing about the end.
    let lost = if checks.is_empty() { lost_objects(undisturbed, perturbed) } else { Vec::new() };
    checks.extend(deletions(undisturbed, perturbed));
    checks.extend(late_writes(perturbed));
    checks.extend(lost);
    checks.extend(too_many_writes((&undisturbed.writes, count), &perturbed.writes));
    checks.extend(too_many_attempts((&undisturbed.writes, count), &perturbed.writes));
    checks
}

/// Objects that the target deleted although they stay in the undisturbed run.
fn deletions(undisturbed: &TargetHistory, perturbed: &TargetHistory) -> Vec<Check> {
    let deletes = |write: &&ObservedWrite| write.verb == "delete" && !write.refused;
    let stays = |write: &&ObservedWrite| {
        let is_it = |server: usize, object: &ObjectRef| {
            server == write.server && is_same_object(object, &write.object)
        };
        let is_deleted =
            undisturbed.writes.iter().filter(deletes).any(|other| is_it(other.server, &other.object));
        !is_deleted && undisturbed.objects.iter().any(|(server, object)| is_it(*server, object))
    };
    let mut named: Vec<&ObjectRef> = Vec::new();
    let mut checks = Vec::new();
    for write in perturbed.writes.iter().filter(deletes).filter(stays) {
        if !named.contains(&&write.object) {
            named.push(&write.object);
            checks.push(check(
                "deletions",
                &write.object,
                "it stays, as without the perturbation",
                "deleted",
            ));
        }
    }
    checks
}

/// What the old leader wrote, each object once, when another one led.
fn late_writes(perturbed: &TargetHistory) -> Vec<Check> {
    let late = &perturbed.late_writes;
    let is_first = |at: &usize| !late[..*at].iter().any(|earlier| earlier.object == late[*at].object);
    let want = "no write of the old leader once the second instance has the Lease";
    let of_write = |write: &ObservedWrite| check("leader", &write.object, want, write.verb);
    (0..late.len()).filter(is_first).map(|at| of_write(&late[at])).collect()
}

/// Objects that are there at the end of the undisturbed run only.
fn lost_objects(undisturbed: &TargetHistory, perturbed: &TargetHistory) -> Vec<Check> {
    let is_there = |server: usize, object: &ObjectRef| {
        perturbed.objects.iter().any(|(at, other)| *at == server && is_same_object(object, other))
    };
    let lost = undisturbed.objects.iter().filter(|(server, object)| !is_there(*server, object));
    lost.map(|(_, object)| check("objects", object, "it is there at the end", "absent")).collect()
}

/// The bound on the number of executed writes, if it is exceeded.
fn too_many_writes(
    (undisturbed, count): (&[ObservedWrite], usize),
    writes: &[ObservedWrite],
) -> Option<Check> {
    let executed = |writes: &[ObservedWrite]| -> Vec<ObservedWrite> {
        writes.iter().filter(|write| !write.refused).cloned().collect()
    };
    let (before, now) = (executed(undisturbed).len(), executed(writes));
    let most = now.iter().max_by_key(|write| count_alike(&now, write))?;
    let alike = count_alike(&now, most);
    let got = |now: usize| format!("{now}, of which {alike} are {} {}", most.verb, most.object);
    exceeds("writes", (before, now.len()), (count, MORE), got)
}

/// The bound on the number of refused writes that are alike, if it is exceeded.
fn too_many_attempts(
    (undisturbed, count): (&[ObservedWrite], usize),
    writes: &[ObservedWrite],
) -> Option<Check> {
    let refused = |writes: &[ObservedWrite]| -> Vec<ObservedWrite> {
        writes.iter().filter(|write| write.refused).cloned().collect()
    };
    let (before, now) = (refused(undisturbed), refused(writes));
    let most = now.iter().max_by_key(|write| count_alike(&now, write))?;
    let attempts = (count_alike(&before, most), count_alike(&now, most));
    let got = |now| format!("{now} times {} {}", most.verb, most.object);
    exceeds("refused writes", attempts, (count, MORE_REFUSED), got)
}

/// A failed check if a number in a run with `count` perturbations is above the bound of the undisturbed one: once more for each
/// perturbation, and `more` beside.
fn exceeds(
    path: &str,
    (undisturbed, now): (usize, usize),
    (count, more): (usize, usize),
    got: impl Fn(usize) -> String,
) -> Option<Check> {
    let (times, more) = (1 + count, more * count);
    let bound = undisturbed * times + more;
    (now > bound).then(|| Check {
        part: "requests".to_owned(),
        path: path.to_owned(),
        want: format!(
            "at most {bound}: {times} times the {undisturbed} of the undisturbed run and {more} more"
        ),
        got: got(now),
        ..Check::default()
    })
}

fn count_alike(writes: &[ObservedWrite], write: &ObservedWrite) -> usize {
    writes.iter().filter(|other| other.is_alike(write)).count()
}

fn check(part: &str, object: &ObjectRef, want: &str, got: &str) -> Check {
    Check {
        part: part.to_owned(),
        path: object.to_string(),
        want: want.to_owned(),
        got: got.to_owned(),
        ..Check::default()
    }
}

/// Whether it is the same object, in any version.
fn is_same_object(one: &ObjectRef, other: &ObjectRef) -> bool {
    (&one.kind, &one.namespace, &one.name) == (&other.kind, &other.namespace, &other.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(api_version: &str, name: &str) -> ObjectRef {
        ObjectRef {
            api_version: api_version.to_owned(),
            kind: "Deployment".to_owned(),
            namespace: "default".to_owned(),
            name: name.to_owned(),
        }
    }

    fn write(verb: &'static str, name: &str) -> ObservedWrite {
        let object = object("apps/v1", name);
        ObservedWrite { server: 0, verb, object, unchanged: false, refused: false }
    }

    fn history(objects: &[&str], writes: Vec<ObservedWrite>) -> TargetHistory {
        let objects = objects.iter().map(|name| (0, object("apps/v1beta1", name))).collect();
        TargetHistory { writes, objects, ..TargetHistory::default() }
    }

    fn found(undisturbed: &TargetHistory, perturbed: &TargetHistory) -> Vec<String> {
        let checks = judge(undisturbed, (perturbed, 1), Vec::new());
        checks.into_iter().map(|check| format!("{} {}: {}", check.part, check.path, check.got)).collect()
    }

    #[test]
    fn what_the_undisturbed_run_keeps_must_stay() {
        let undisturbed = history(&["a", "b", "c"], vec![write("delete", "c"), write("create", "c")]);
        let same = history(&["a", "b", "c"], vec![write("delete", "c"), write("delete", "d")]);
        assert_eq!(found(&undisturbed, &same), Vec::<String>::new());
        let deleted = vec![write("delete", "a"), write("create", "a"), write("delete", "a")];
        let refused = ObservedWrite { refused: true, ..write("delete", "c") };
        let worse = history(&["a", "c"], [deleted, vec![refused]].concat());
        let wanted = ["deletions deployment/a: deleted", "objects deployment/b: absent"];
        assert_eq!(found(&undisturbed, &worse), wanted);
        let failed = Check { part: "eventually".to_owned(), ..Check::default() };
        let parts = judge(&undisturbed, (&worse, 1), vec![failed]).into_iter().map(|check| check.part);
        assert_eq!(parts.collect::<Vec<_>>(), ["eventually", "deletions"]);
    }

    #[test]
    fn twice_the_writes_and_ten_more_are_the_bound() {
        let undisturbed = history(&[], vec![write("patch", "a")]);
        for (count, is_broken) in [(12, false), (13, true)] {
            let perturbed = history(&[], vec![write("patch", "a"); count]);
            assert_eq!(!found(&undisturbed, &perturbed).is_empty(), is_broken, "{count}");
        }
        // Attempts that are refused are counted by themselves.
        let refused = ObservedWrite { refused: true, ..write("patch", "a") };
        for (count, is_broken) in [(30, false), (31, true)] {
            let writes = [vec![write("patch", "a"); 12], vec![refused.clone(); count]].concat();
            let found = found(&undisturbed, &history(&[], writes));
            assert_eq!(found.iter().any(|found| found.contains("refused writes")), is_broken, "{found:?}");
            assert_eq!(found.len(), usize::from(is_broken));
        }
        // Of two perturbations, each may make the target repeat itself.
        for (count, is_broken) in [(23, false), (24, true)] {
            let perturbed = history(&[], vec![write("patch", "a"); count]);
            let checks = judge(&undisturbed, (&perturbed, 2), Vec::new());
            assert_eq!(!checks.is_empty(), is_broken, "{count}");
        }
    }

    #[test]
    fn an_old_leader_must_not_write() {
        let undisturbed = history(&[], vec![]);
        let late_writes = vec![write("patch", "a"), write("update", "a"), write("create", "b")];
        let perturbed = TargetHistory { late_writes, ..TargetHistory::default() };
        let wanted = ["leader deployment/a: patch", "leader deployment/b: create"];
        assert_eq!(found(&undisturbed, &perturbed), wanted);
    }
}
