//! The hash of a worker pool: a changed hash replaces the pool's machines.

use std::fmt::Write as _;

use formats::version::{Version, VersionError};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};

/// The inputs of the hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pool<'a> {
    /// The version of its kubelets; the patch is ignored.
    pub kubernetes: &'a str,
    /// Type of its machines.
    pub machine_type: &'a str,
    /// Name of their image.
    pub image: &'a str,
    /// Version of their image.
    pub image_version: &'a str,
    /// Size and type of the root volume.
    pub volume: Option<(&'a str, Option<&'a str>)>,
    /// The provider's configuration, unchanged.
    pub provider_config: Option<&'a str>,
    /// Values that the provider's extension adds.
    pub additional: &'a [&'a str],
    /// Name of the container runtime interface; `docker` is ignored.
    pub cri: Option<&'a str>,
    /// Start of the last rotation of certificate authorities.
    pub certificate_authorities: Option<Timestamp>,
    /// Start of the last rotation of the service account key.
    pub service_account_key: Option<Timestamp>,
    /// Whether node-local DNS is enabled.
    pub node_local_dns: bool,
}

impl Pool<'_> {
    /// The first five hexadecimal digits of SHA-256 over the digests of all parts (GDN-HSH-001 to -005).
    ///
    /// # Errors
    /// If the version of its kubelets is invalid.
    pub fn hash(&self) -> Result<String, VersionError> {
        let version = Version::parse(self.kubernetes)?;
        let mut parts = vec![
            format!("{}.{}", version.major, version.minor),
            self.machine_type.to_owned(),
            format!("{}{}", self.image, self.image_version),
        ];
        let (size, volume_type) = self.volume.unzip();
        let given = [size, volume_type.flatten(), self.provider_config];
        parts.extend(given.into_iter().flatten().map(str::to_owned));
        parts.extend(self.additional.iter().map(|&part| part.to_owned()));
        parts.extend(self.cri.filter(|&name| name != "docker").map(str::to_owned));
        parts
            .extend([self.certificate_authorities, self.service_account_key].into_iter().flatten().map(time));
        parts.extend(self.node_local_dns.then(|| "node-local-dns".to_owned()));
        let mut hash = digest(&parts.iter().map(|part| digest(part)).collect::<String>());
        hash.truncate(5);
        Ok(hash)
    }
}

/// A time as Go prints it: `2022-11-30 10:00:00 +0000 UTC`.
fn time(time: Timestamp) -> String {
    let time = time.to_zoned(TimeZone::UTC);
    let fraction = match time.subsec_nanosecond() {
        0 => String::new(),
        nanos => format!(".{nanos:09}").trim_end_matches('0').to_owned(),
    };
    format!("{}{fraction} +0000 UTC", time.strftime("%Y-%m-%d %H:%M:%S"))
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool<'static> {
        Pool {
            kubernetes: "1.24.3",
            machine_type: "m5.large",
            image: "gardenlinux",
            image_version: "318.9.0",
            ..Pool::default()
        }
    }

    #[test]
    fn each_part_that_is_added_changes_the_hash() {
        let rotated: Timestamp = "2022-11-30T10:00:00Z".parse().unwrap();
        let mut pool = pool();
        let mut hashes = vec![pool.hash().unwrap()];
        let parts: [fn(&mut Pool<'static>); 4] = [
            |pool| pool.volume = Some(("50Gi", None)),
            |pool| pool.volume = Some(("50Gi", Some("gp3"))),
            |pool| pool.provider_config = Some(r#"{"foo":"bar"}"#),
            |pool| pool.cri = Some("containerd"),
        ];
        for add in parts {
            add(&mut pool);
            hashes.push(pool.hash().unwrap());
        }
        pool.certificate_authorities = Some(rotated);
        hashes.push(pool.hash().unwrap());
        pool.node_local_dns = true;
        hashes.push(pool.hash().unwrap());
        assert_eq!(hashes, ["e4c2b", "43fee", "fd87b", "18af6", "0abb7", "918a0", "80e9f"]);
        let next = Pool { kubernetes: "v1.25", ..self::pool() };
        assert_eq!(next.hash().as_deref(), Ok("149fd"));
    }

    #[test]
    fn ignored_inputs_do_not_change_the_hash() {
        let same = [
            Pool { kubernetes: "1.24.99", ..pool() },
            Pool { cri: Some("docker"), ..pool() },
            Pool { additional: &[], ..pool() },
        ];
        for same in same {
            assert_eq!(same.hash(), pool().hash(), "{same:?}");
        }
        let added = Pool { additional: &["a", "b"], ..pool() };
        assert_eq!(added.hash().as_deref(), Ok("89841"));
        let rotated = "2022-11-30T10:00:00Z".parse().ok();
        let key = Pool { service_account_key: rotated, ..pool() };
        assert_eq!(key.hash().as_deref(), Ok("4f88e"));
    }

    #[test]
    fn times_are_those_of_go() {
        let at = |text: &str| time(text.parse().unwrap());
        assert_eq!(at("2022-11-30T10:00:00Z"), "2022-11-30 10:00:00 +0000 UTC");
        assert_eq!(at("2022-11-30T10:00:00.25Z"), "2022-11-30 10:00:00.25 +0000 UTC");
    }
}
