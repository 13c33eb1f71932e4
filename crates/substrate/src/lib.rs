//! Where cases run: embedded, envtest, kind, kubeconfig.
