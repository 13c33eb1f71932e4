package envtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// nameFrontProxy makes the certificate that kube-apiserver shows aggregated API servers, and names it in its flags, as
// Gardener's pkg/envtest does.
func nameFrontProxy(folder string, flags *envtest.Arguments) error {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	authority, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "front-proxy"}, authorityKey)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "front-proxy"}, SerialNumber: big.NewInt(2),
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, authority, key.Public(), authorityKey)
	if err != nil {
		return err
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"requestheader-client-ca-file": certificatePEM(authority.Raw),
		"proxy-client-cert-file":       certificatePEM(signed),
		"proxy-client-key-file":        keyPEM,
	}
	for flag, content := range files {
		path := filepath.Join(folder, flag+".pem")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
		flags.Set(flag, path)
	}
	flags.
		Set("requestheader-username-headers", "X-Remote-User").
		Set("requestheader-group-headers", "X-Remote-Group").
		Set("requestheader-extra-headers-prefix", "X-Remote-Extra-")
	return nil
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encode(content []byte) string {
	return base64.StdEncoding.EncodeToString(content)
}
