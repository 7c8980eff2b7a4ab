#!/bin/sh
# Three servers on this machine, with TLS between all, as three.conf says, until they are interrupted. The directory
# that is its argument gets their certificates and stores: three.sh DIRECTORY. It says when clients may come.
set -eu
[ $# = 1 ] || { echo "usage: three.sh DIRECTORY" >&2; exit 2; }
setup=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)

export CA="$dir/ca.pem" CERT="$dir/server.pem" KEY="$dir/server.key"
if [ ! -e "$CERT" ]; then
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=authority \
		-keyout "$dir/ca.key" -out "$CA" 2>/dev/null
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server \
		-keyout "$KEY" -out "$dir/server.csr" 2>/dev/null
	echo "subjectAltName=IP:127.0.0.1,DNS:localhost" >"$dir/names"
	openssl x509 -req -in "$dir/server.csr" -CA "$CA" -CAkey "$dir/ca.key" -CAcreateserial -days 30 \
		-extfile "$dir/names" -out "$CERT" 2>/dev/null
fi
export ALBUMS_PASSWORD="${ALBUMS_PASSWORD:-albums}" OWNER_PASSWORD="${OWNER_PASSWORD:-owner}"
export REPORTS_PASSWORD="${REPORTS_PASSWORD:-reports}"
export ROUTE1=nats://127.0.0.1:6231 ROUTE2=nats://127.0.0.1:6232 ROUTE3=nats://127.0.0.1:6233

(cd "$setup/.." && go build -o "$dir/nats-server" github.com/nats-io/nats-server/v2)
# Two servers on one store destroy it.
if [ -e "$dir/pid" ] && kill -0 "$(cat "$dir/pid")" 2>/dev/null; then
	echo "three.sh runs already in $dir" >&2
	exit 1
fi
echo $$ >"$dir/pid"
rm -f "$dir"/server?.log
pids=
trap 'kill $pids 2>/dev/null' EXIT
trap 'exit 0' INT TERM
for i in 1 2 3; do
	NAME=server$i LISTEN=127.0.0.1:423$i ROUTE_LISTEN=127.0.0.1:623$i STORE="$dir/store$i" \
		"$dir/nats-server" -c "$setup/three.conf" -l "$dir/server$i.log" -P "$dir/server$i.pid" &
	pids="$pids $!"
done
until grep -qs "new metadata leader" "$dir"/server?.log; do
	for pid in $pids; do
		kill -0 "$pid" 2>/dev/null || { echo "a server has ended:" >&2; grep -h FTL "$dir"/server?.log >&2; exit 1; }
	done
	sleep 0.2
done
echo "clients: -nats tls://USER:PASSWORD@127.0.0.1:4231 -ca $CA"
wait
