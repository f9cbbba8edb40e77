# SPDX-License-Identifier: Apache-2.0
#
# Runs Redis so that a Ctrl-C, which goes to every process of the terminal's foreground group, reaches only the JVM: Redis
# must outlive the JVM's last request. It becomes a daemon in a session of its own, and this shell, which ignores these
# signals, is its lifeline: when its standard input ends (the JVM closes it, or is gone, however it died), it tells Redis
# to write everything to disk and to end.
#
# Arguments: redis-server, its configuration file (daemonize yes), the pid file named there.

trap '' INT TERM HUP
"$1" "$2" || exit 1

read -r _line

tries=0
until [ -s "$3" ] || [ "$tries" -ge 50 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
pid=$(cat "$3") || exit 1
kill -s TERM "$pid"
# Redis removes its pid file after it has fsynced the append-only file.
while [ -e "$3" ] && kill -0 "$pid" 2>/dev/null; do
    sleep 0.05
done
