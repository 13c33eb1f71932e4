//! Translates the flags of gardener-apiserver to options of the server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use apiserver::flags::access::{CLIENTS, bundle, front_proxies, key_pair};
use apiserver::flags::{FlagError, GivenFlags};
use apiserver::{KeyPair, RequestHeaders};
use controller::log;

use super::features;
use super::flags::{
    ADDRESS, ALLOWED_TTL, ALWAYS_ALLOWED, AUDIT, AUTHENTICATION_KUBECONFIG, AUTHORIZATION_KUBECONFIG,
    CERTIFICATE, DENIED_TTL, DISABLED_PLUGINS, ENABLED_PLUGINS, ENCRYPTION, ETCD, FEATURE_GATES, IDENTITY,
    KEY, KUBECONFIG, LOG_FORMAT, LOG_LEVEL, MAX_EXPIRATION, PLUGIN_CONFIGURATION, PORT, SKIP_LOOKUP, STORAGE,
    TOKEN_TTL,
};
use crate::admission::{Chain, configuration_file};

/// What everybody may get unless a flag replaces it.
const OPEN_PATHS: [&str; 3] = ["/healthz", "/readyz", "/livez"];
/// How long answers of the kube-apiserver are kept, unless a flag says it.
const TTL: Duration = Duration::from_secs(10);
/// How long a kubeconfig of `shoots/adminkubeconfig` is valid at most, unless a flag says it; then its shortest and longest
/// value.
const MAX_EXPIRATIONS: [Duration; 3] =
    [Duration::from_hours(24), Duration::from_hours(1), Duration::from_secs(1 << 32)];

/// Options of the server.
#[derive(Debug)]
pub struct ApiServerOptions {
    /// Where it listens; port 0 is any free one.
    pub address: SocketAddr,
    /// Its certificate and key.
    pub certificate: KeyPair,
    /// The kubeconfig of the kube-apiserver with namespaces and Secrets; empty for the one of the cluster.
    pub kubeconfig: String,
    /// The kubeconfig of the kube-apiserver that knows tokens; empty for the one of the cluster.
    pub authentication_kubeconfig: String,
    /// The kubeconfig of the kube-apiserver that authorizes; empty for the one of the cluster.
    pub authorization_kubeconfig: String,
    /// Authorities of client certificates, PEM.
    pub clients: Option<String>,
    /// Front proxies.
    pub proxies: Option<RequestHeaders>,
    /// Whether the ConfigMap with authorities of clients and front proxies is not read.
    pub skips_lookup: bool,
    /// Paths that everybody may get; `/healthz/*` are all paths that begin with `/healthz/`.
    pub always_allowed: Vec<String>,
    /// How long answers of the kube-apiserver are cached.
    pub cached: CacheTimes,
    /// The identity of the garden cluster.
    pub cluster_identity: String,
    /// How long a kubeconfig of `shoots/adminkubeconfig` is valid at most.
    pub max_expiration: Duration,
    /// Features of the original that were set, and whose values have no effect.
    pub features_without_effect: Vec<&'static str>,
    /// The admission plugins.
    pub admission: Chain,
    /// What is logged, and how.
    pub log: (log::Level, log::Format),
}

/// How long answers of the kube-apiserver are cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheTimes {
    /// The user of a token.
    pub token: Duration,
    /// An allowed access.
    pub allowed: Duration,
    /// A denied access.
    pub denied: Duration,
}

impl ApiServerOptions {
    /// Reads flags and the files that they name.
    ///
    /// # Errors
    /// When a flag is missing, or a value or a file cannot be used.
    pub fn from_flags(given: &GivenFlags) -> Result<Self, FlagError> {
        refuse_unbuilt(given)?;
        let features_without_effect = features_without_effect(given)?;
        let max_expiration = max_expiration(given)?;
        let identity = given.last(IDENTITY).ok_or_else(|| FlagError::new(IDENTITY, "must be specified"))?;
        let certificate = key_pair(given, (CERTIFICATE, KEY))?;
        let text = |flag: &str| given.last(flag).unwrap_or_default().to_owned();
        Ok(Self {
            address: address(given)?,
            certificate: certificate
                .ok_or_else(|| FlagError::new(CERTIFICATE, format!("must be specified with --{KEY}")))?,
            kubeconfig: text(KUBECONFIG),
            authentication_kubeconfig: text(AUTHENTICATION_KUBECONFIG),
            authorization_kubeconfig: text(AUTHORIZATION_KUBECONFIG),
            clients: bundle(given, CLIENTS)?,
            proxies: front_proxies(given)?.map(with_default_headers),
            skips_lookup: given.switch(SKIP_LOOKUP, false)?,
            always_allowed: always_allowed(given),
            cached: CacheTimes {
                token: duration(given, TOKEN_TTL)?,
                allowed: duration(given, ALLOWED_TTL)?,
                denied: duration(given, DENIED_TTL)?,
            },
            cluster_identity: identity.to_owned(),
            max_expiration,
            features_without_effect,
            admission: admission(given)?,
            log: log_options(given)?,
        })
    }
}

/// Refuses what would change where objects are, or who may do what, and is not built.
fn refuse_unbuilt(given: &GivenFlags) -> Result<(), FlagError> {
    if given.has(ETCD) {
        return Err(FlagError::new(
            ETCD,
            format!("etcd is not built: leave it out; objects are in memory until --{STORAGE} is built"),
        ));
    }
    if given.has(STORAGE) {
        return Err(FlagError::new(STORAGE, "the journal is not built: leave it out; objects are in memory"));
    }
    if let Some(flag) = [ENCRYPTION, AUDIT].into_iter().find(|flag| given.last(flag).is_some()) {
        return Err(FlagError::new(flag, "is not built: leave it out"));
    }
    Ok(())
}

fn address(given: &GivenFlags) -> Result<SocketAddr, FlagError> {
    let ip = given.address(ADDRESS)?.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    Ok(SocketAddr::new(ip, given.port(PORT)?.unwrap_or(443)))
}

/// Headers that no flag names are those of kube-apiserver.
fn with_default_headers(mut proxies: RequestHeaders) -> RequestHeaders {
    let defaults = [
        (&mut proxies.username, "x-remote-user"),
        (&mut proxies.groups, "x-remote-group"),
        (&mut proxies.extra_prefixes, "x-remote-extra-"),
    ];
    for (headers, default) in defaults {
        if headers.is_empty() {
            headers.push(default.to_owned());
        }
    }
    proxies
}

fn always_allowed(given: &GivenFlags) -> Vec<String> {
    if given.has(ALWAYS_ALLOWED) {
        given.list(ALWAYS_ALLOWED)
    } else {
        OPEN_PATHS.map(str::to_owned).to_vec()
    }
}

fn features_without_effect(given: &GivenFlags) -> Result<Vec<&'static str>, FlagError> {
    let pairs = given.list(FEATURE_GATES);
    features::check(&pairs)
        .map_err(|error| FlagError::of_value(FEATURE_GATES, &pairs.join(","), error.to_string()))
}

fn max_expiration(given: &GivenFlags) -> Result<Duration, FlagError> {
    let [default, shortest, longest] = MAX_EXPIRATIONS;
    let Some(text) = given.last(MAX_EXPIRATION) else { return Ok(default) };
    let duration = duration(given, MAX_EXPIRATION)?;
    if (shortest..=longest).contains(&duration) {
        return Ok(duration);
    }
    Err(FlagError::of_value(MAX_EXPIRATION, text, "must be between 1 hour and 2^32 seconds"))
}

fn duration(given: &GivenFlags, flag: &str) -> Result<Duration, FlagError> {
    let Some(text) = given.last(flag) else { return Ok(TTL) };
    let refused = |reason: String| FlagError::of_value(flag, text, reason);
    let duration = formats::duration::GoDuration::parse(text).map_err(|error| refused(error.to_string()))?;
    duration.to_std().ok_or_else(|| refused("must not be negative".to_owned()))
}

fn admission(given: &GivenFlags) -> Result<Chain, FlagError> {
    let chain = Chain::choose(&given.list(ENABLED_PLUGINS), &given.list(DISABLED_PLUGINS));
    let chain = chain.map_err(|error| FlagError::new(ENABLED_PLUGINS, error.to_string()))?;
    let Some(file) = given.last(PLUGIN_CONFIGURATION) else { return Ok(chain) };
    let configuration = configuration_file::read(Path::new(file))
        .map_err(|error| FlagError::of_value(PLUGIN_CONFIGURATION, file, error.to_string()))?;
    Ok(chain.configured(configuration))
}

fn log_options(given: &GivenFlags) -> Result<(log::Level, log::Format), FlagError> {
    let (level, format) = (given.last(LOG_LEVEL).unwrap_or("info"), given.last(LOG_FORMAT).unwrap_or("json"));
    let wrong =
        |flag: &str, value: &str, error: log::LogError| FlagError::of_value(flag, value, error.to_string());
    Ok((
        level.parse::<log::Level>().map_err(|error| wrong(LOG_LEVEL, level, error))?,
        format.parse::<log::Format>().map_err(|error| wrong(LOG_FORMAT, format, error))?,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::flags::FLAGS;
    use super::*;

    #[rstest::rstest]
    #[case(&[], "--cluster-identity: must be specified")]
    #[case(&["--cluster-identity=a"], "--tls-cert-file: must be specified with --tls-private-key-file")]
    #[case(&["--etcd-servers=https://etcd:2379"], "--etcd-servers: etcd is not built")]
    #[case(&["--storage-dir=/a"], "--storage-dir: the journal is not built")]
    #[case(&["--feature-gates=Other=true"], "--feature-gates=Other=true: unrecognized feature gate: Other")]
    #[case(&["--feature-gates=IPv6SingleStack=true,"], "--feature-gates=IPv6SingleStack=true: IPv6SingleStack=true is not built")]
    fn a_flag_that_cannot_be_kept_is_refused(#[case] flags: &[&str], #[case] want: &str) {
        let given = GivenFlags::read(FLAGS, flags.iter().map(|&flag| flag.to_owned()).collect()).unwrap();
        let refused = ApiServerOptions::from_flags(&given).unwrap_err().to_string();
        assert!(refused.starts_with(want), "{refused}");
    }

    #[rstest::rstest]
    #[case("", Ok(86_400))]
    #[case("1h", Ok(3600))]
    #[case("1h0m1s", Ok(3601))]
    #[case("4294967296s", Ok(4_294_967_296))]
    #[case("59m59s", Err("must be between 1 hour and 2^32 seconds"))]
    #[case("4294967297s", Err("must be between 1 hour and 2^32 seconds"))]
    #[case("-1h", Err("must not be negative"))]
    #[case("1d", Err("time: unknown unit \"d\" in duration \"1d\""))]
    fn kubeconfigs_are_valid_for_an_hour_at_least(#[case] text: &str, #[case] want: Result<u64, &str>) {
        let flag = format!("--{MAX_EXPIRATION}={text}");
        let found = max_expiration(&GivenFlags::read(FLAGS, vec![flag.clone()]).unwrap());
        let want = want.map(Duration::from_secs).map_err(|why| format!("{flag}: {why}"));
        assert_eq!(found.map_err(|error| error.to_string()), want);
    }

    #[test]
    fn a_flag_replaces_the_paths_that_everybody_may_get() {
        let of = |flags: &[&str]| {
            let flags = flags.iter().map(|&flag| flag.to_owned()).collect();
            always_allowed(&GivenFlags::read(FLAGS, flags).unwrap())
        };
        assert_eq!(of(&[]), ["/healthz", "/readyz", "/livez"]);
        assert_eq!(of(&["--authorization-always-allow-paths=/healthz"]), ["/healthz"]);
    }
}
