/** The script of a worker in which agents think. */

import { serve, type Port } from "./serve";

serve(globalThis as unknown as Port);
