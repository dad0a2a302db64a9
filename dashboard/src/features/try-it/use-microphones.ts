import { useEffect, useState } from "react";
import type { Option } from "../../ui/form/select.tsx";

/**
 * The microphones of this browser by their device IDs.
 * @param mayUse whether a microphone is in use: before, browsers tell neither names nor IDs
 */
export function useMicrophones(mayUse: boolean): readonly Option[] {
  const [microphones, setMicrophones] = useState<readonly Option[]>([]);
  useEffect(() => {
    const devices = navigator.mediaDevices;
    // A page without HTTPS has none.
    if (!devices || !mayUse) return;
    const read = async () => {
      const found = await devices.enumerateDevices();
      const own = found.filter(({ kind, deviceId }) => kind === "audioinput" && !["", "default"].includes(deviceId));
      setMicrophones(own.map(({ deviceId, label }) => ({ value: deviceId, label })));
    };
    void read();
    devices.addEventListener("devicechange", read);
    return () => devices.removeEventListener("devicechange", read);
  }, [mayUse]);
  return microphones;
}
