//! Free resources of this machine.

use std::path::Path;

/// CAP_SYS_RESOURCE; without it, a plain engine cannot start privileged containers.
const SYS_RESOURCE: u32 = 24;

/// Free resources; absent if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Free bytes on the disk of the engine's data.
    pub disk: Option<u64>,
    /// Available memory, in bytes.
    pub memory: Option<u64>,
    /// Whether CAP_SYS_RESOURCE is in the bounding set.
    pub has_sys_resource: Option<bool>,
}

impl Machine {
    /// Reads this machine's resources; `data` is the engine's folder.
    #[must_use]
    pub fn inspect(data: &Path) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        Self {
            disk: rustix::fs::statvfs(data).ok().map(|found| found.f_bavail.saturating_mul(found.f_frsize)),
            memory: read("/proc/meminfo").as_deref().and_then(available_memory),
            has_sys_resource: read("/proc/self/status").as_deref().and_then(has_sys_resource),
        }
    }
}

fn available_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

fn has_sys_resource(status: &str) -> Option<bool> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapBnd:"))?;
    let bounding = u64::from_str_radix(line.trim(), 16).ok()?;
    Some(bounding >> SYS_RESOURCE & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_capability_are_read_from_proc() {
        assert_eq!(available_memory("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(available_memory("MemTotal: 9 kB\n"), None);
        for (set, has) in [("000001fffeffffff", false), ("000001ffffffffff", true)] {
            assert_eq!(has_sys_resource(&format!("CapEff:\t0\nCapBnd:\t{set}\n")), Some(has), "{set}");
        }
    }
}
