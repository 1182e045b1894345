"""A private certificate authority and a certificate of it for one host, as JSON. The argument is the host."""

import datetime
import json
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

host = sys.argv[1]
now = datetime.datetime.now(datetime.timezone.utc)


def named(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(subject, public_key, signer, authority):
    key_identifier = x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key())
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(subject))
        .issuer_name(named("Private authority"))
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if authority:
        builder = builder.add_extension(key_identifier, critical=False)
    else:
        names = x509.SubjectAlternativeName([x509.DNSName(subject)])
        issuer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(key_identifier)
        builder = builder.add_extension(names, critical=False).add_extension(issuer, critical=False)
    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


ca_key = ec.generate_private_key(ec.SECP256R1())
key = ec.generate_private_key(ec.SECP256R1())
json.dump(
    {
        "ca": certificate("Private authority", ca_key.public_key(), ca_key, True),
        "certificate": certificate(host, key.public_key(), ca_key, False),
        "key": key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode(),
    },
    sys.stdout,
)
