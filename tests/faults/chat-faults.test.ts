// On one stack, because each takes seconds to boot: what no process may end of comes before what ends processes.
import "./model-faults.ts";
import "./process-faults.ts";
