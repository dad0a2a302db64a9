// On one stack, because each takes seconds to boot.
import "./message-faults.ts";
import "./tool-faults.ts";
