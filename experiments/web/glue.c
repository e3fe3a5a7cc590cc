/* What compiled kernels ask of their surroundings: memory, to be set and copied, and arrays that live during a call.

   numba's arrays stand behind a block with a count of references: MemInfo { int64 refct; void *dtor, *dtor_info, *data;
   int64 size; }. Here a block comes from the room before `limit`, in sizes of powers of two. A block that is given back
   goes to a list of its size; when the next call comes in, everything is forgotten. */

#include <stddef.h>
#include <stdint.h>

#define HEADER 64      /* bytes before the data, so that these are aligned for vectors */
#define MOST_ALIGNED 32

struct meminfo {
  int64_t refct;
  void *dtor, *dtor_info, *data;
  int64_t size;
};

extern unsigned char __heap_base;
static size_t top, limit;
static struct meminfo *spare[32];

static size_t heap(void) { return ((size_t)&__heap_base + HEADER - 1) & ~(size_t)(HEADER - 1); }

/* Give the kernels `bytes` of memory to work in; the address behind it, where the caller's own arrays may begin. */
int32_t reserve(int32_t bytes) {
  limit = heap() + (size_t)bytes;
  return (int32_t)limit;
}

/* Called when a call comes in: all memory is free again. */
void nrt_reset(void) {
  top = heap();
  for (int k = 0; k < 32; k++) spare[k] = 0;
}

void *NRT_MemInfo_alloc_aligned(int64_t size, int32_t align) {
  if (align > MOST_ALIGNED || size < 0 || size > (1 << 30)) __builtin_trap();
  int k = 32 - __builtin_clz((uint32_t)size + HEADER - 1);
  struct meminfo *block = spare[k];
  if (block) {
    spare[k] = block->dtor;
  } else {
    if (top + ((size_t)1 << k) > limit) __builtin_trap();
    block = (struct meminfo *)top;
    top += (size_t)1 << k;
  }
  block->refct = 1;
  block->dtor = 0;
  block->dtor_info = (void *)(size_t)k;
  block->data = (char *)block + HEADER;
  block->size = size;
  return block;
}

void NRT_MemInfo_call_dtor(struct meminfo *block) {
  int k = (int)(size_t)block->dtor_info;
  block->dtor = spare[k];
  spare[k] = block;
}

/* Room for a copy that numba makes where the two sides of an assignment could overlap. */
void *NRT_Allocate(int64_t size) {
  struct meminfo *block = NRT_MemInfo_alloc_aligned(size, MOST_ALIGNED);
  return block->data;
}

void NRT_Free(void *data) { NRT_MemInfo_call_dtor((struct meminfo *)((char *)data - HEADER)); }

void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
void *memcpy(void *to, const void *from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
