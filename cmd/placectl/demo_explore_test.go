package main
import ("testing";"fmt";"path/filepath";"time")
func TestExplore(t *testing.T){
 for _,sel:=range []string{"4:ncpus=80:feature=cl_zewura","4:ncpus=80:feature=cl_zewura+8:ncpus=12:feature=cl_zegox"}{
 for _,m:=range []int64{24,36,48,60,66,72}{
 for _,ahead:=range []int64{12,24,30,36}{
 for _,up:=range []string{"4","8","12"}{
  const hour=3600
  c:=newCapture("demo"); r:=c.runner()
  data,err:=loadDemo(testNow.Unix()); if err!=nil{t.Fatal(err)}
  exploreReserves=[]demoReserve{{data.From+m*hour,"maintenance",sel,data.From+(m+ahead)*hour,8*time.Hour},{data.Until-12*hour,"upgrade",up+":ncpus=12:feature=cl_zegox",data.Until+12*hour,6*time.Hour}}
  rep,err:=r.makeDemo(filepath.Join(t.TempDir(),"x.db"),data); if err!=nil{fmt.Println(m,ahead,up,err);continue}
  late:=int64(0); for _,v:=range rep.Reservations{ if v.Name=="maintenance"{late=(int64(v.Start)-data.From)/3600-(m+ahead)}}
  n:=0; for _,w:=range rep.d.stats.Waits{if w>0{n++}}
  fmt.Println(sel[len(sel)-9:],m,ahead,up,"late",late,"placed",rep.d.stats.Placed,"waited",n,"fit",rep.d.stats.FittedIn,"waiting",len(rep.d.waiting),"groups",len(rep.Waiting),"max",rep.d.stats.MostWaiting, rep.Buckets[0].Free,rep.Buckets[0].Later,rep.Buckets[1].Free)
 }}}}
}
