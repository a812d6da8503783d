# Shuts a command in with the namespaces that unshare made: a root of its own, read-only but for three folders.
# Arguments: the session's folder, how many paths may be read, those paths, the command.
set -eu
session=$1
count=$2
shift 2
root=$session/root
mkdir -p "$root"
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root"
# First, since Python itself may be in a folder below.
mkdir -p "$root/tmp"
mount --bind "$session/tmp" "$root/tmp"
while [ "$count" -gt 0 ]; do
    path=$1
    shift
    count=$((count - 1))
    if [ -L "$path" ] && [ "$(dirname "$path")" = / ]; then
        ln -s "$(readlink "$path")" "$root$path"
    elif [ -d "$path" ]; then
        mkdir -p "$root$path"
        mount --bind "$path" "$root$path"
        mount -o remount,bind,ro,nosuid,nodev "$root$path"
    else
        mkdir -p "$root$(dirname "$path")"
        : > "$root$path"
        mount --bind "$path" "$root$path"
        mount -o remount,bind,ro,nosuid,nodev "$root$path"
    fi
done
for name in in out work tmp; do
    mkdir -p "$root/p2/$name"
    mount --bind "$session/$name" "$root/p2/$name"
    if [ "$name" = in ]; then mode=ro; else mode=rw; fi
    mount -o "remount,bind,$mode,nosuid,nodev" "$root/p2/$name"
done
mkdir -p "$root/dev/shm" "$root/proc"
mount --bind "$session/tmp" "$root/dev/shm"
for name in null zero full random urandom; do
    : > "$root/dev/$name"
    mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
# Of root's process even the kernel's settings under it could be written.
mount -o remount,bind,ro,nosuid,nodev,noexec "$root/proc"
mkdir -p "$root/old"
cd "$root"
pivot_root . old
umount -l /old
rmdir /old
mount -o remount,ro /
cd /p2/work
exec "$@"
